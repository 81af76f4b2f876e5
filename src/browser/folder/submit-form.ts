import { element } from "../elements.ts";

/** The action whose answer is saved, and the event of the document that says so: the page stays. */
export const DOWNLOAD_MEMBERS = "download-members";

/** Sends a form that leads to another page, or to a download. `field`: the name of the field that has the members. */
export function submitForm(action: string, field: string, members: string): void {
  const inputs = Object.entries({ action, [field]: members }).map(([name, value]) =>
    element("input", { type: "hidden", name, value }),
  );
  // Without an action it goes to the URL of the page, which has the order of its members.
  const form = element("form", { method: "post", enctype: "multipart/form-data" }, ...inputs);
  document.body.append(form);
  if (action === DOWNLOAD_MEMBERS) document.dispatchEvent(new Event(DOWNLOAD_MEMBERS));
  form.submit();
  form.remove();
}
