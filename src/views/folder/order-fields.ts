import { html, type SafeHtml } from "../../http/html.ts";
import { type MemberOrder, toOrderedUrl } from "../member-order.ts";

/** Renders fields by which a form that leads to another page keeps the order of the members. The default needs none. */
export function renderOrderFields(order: MemberOrder): SafeHtml[] {
  const { searchParams } = new URL(toOrderedUrl("http://localhost/", order));
  return [...searchParams].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}
