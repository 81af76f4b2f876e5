/** Keeps the page when files are dropped on it where nothing takes them: the browser would open them in its place. */
export function stayOnDrops(): void {
  for (const type of ["dragover", "drop"] as const) {
    addEventListener(type, (event) => {
      const { target, dataTransfer } = event;
      // A field for files takes them by itself.
      const isField = target instanceof Element && target.matches('[type="file"]');
      if (!dataTransfer?.types.includes("Files") || isField) return;
      event.preventDefault();
      dataTransfer.dropEffect = "none";
    });
  }
}
