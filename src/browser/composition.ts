/** The key code while an input method composes a text. Safari sends it with the Enter that ends this, too. */
const COMPOSING = 229;

/** Keeps keys that are for an input method from all that keys do on the page. The method still gets them. */
export function leaveKeysToInputMethods(): void {
  addEventListener(
    "keydown",
    (event) => {
      if (event.isComposing || event.keyCode === COMPOSING) event.stopPropagation();
    },
    true,
  );
}
