// Elements. Text is only ever set as text: no name can become markup.

type Child = Node | string | null;

export interface Attributes {
  class?: string;
  on?: Record<string, (event: any) => void>;
  [name: string]: unknown;
}

/** An element with attributes, listeners and children; null and undefined are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value as Record<string, EventListener>)) {
        element.addEventListener(event, listener);
      }
    } else if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat().filter((child): child is Node | string => child !== null));
  return element;
}

/** A bar filled up to a share of its width, with a mark where it was before. */
export function bar(share: number, before: number | null, known: boolean): HTMLElement {
  const fill = h("i", { class: known ? "fill known" : "fill" });
  fill.style.width = `${100 * share}%`;
  const out = h("span", { class: "bar", "aria-hidden": "true" }, fill);
  if (before !== null) {
    const mark = h("b", { class: "mark" });
    mark.style.left = `${100 * before}%`;
    out.append(mark);
  }
  return out;
}
