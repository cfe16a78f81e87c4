// Elements. Text is only ever set as text: no name can become markup.

export type Child = Node | string | null;

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

/** When the picture that is drawn next has been seen. */
export function afterPicture(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(act)));
}

/** Sets an attribute, if it is another: what is the same need not be styled anew. */
export function set(element: HTMLElement, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** A bar filled up to a share of its width, with a mark where it was before; or below it the bar of a kept case. */
export class Bar {
  private fill = h("i");
  private mark = h("b", { class: "mark" });
  readonly element = h("span", { "aria-hidden": "true" }, this.fill);

  update(share: number, before: number | null = null, known = false, paired = false): this {
    set(this.element, "class", paired ? "bar pair" : "bar");
    set(this.fill, "class", known ? "fill known" : "fill");
    this.fill.style.width = `${(100 * share).toFixed(2)}%`;
    if (before === null) this.mark.remove();
    else {
      this.mark.style.cssText = `${paired ? "width" : "left"}: ${(100 * before).toFixed(2)}%`;
      if (!this.mark.parentNode) this.element.append(this.mark);
    }
    return this;
  }
}
