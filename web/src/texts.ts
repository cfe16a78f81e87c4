// Letters on the canvas: how wide they are, and how much of a text has room.

import type { Pen } from "./pen";
import { short } from "./words";

export const FONT = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
export const LABEL = 11.5; // pixels of a letter
export const LABEL_FONT = `500 ${LABEL}px ${FONT}`;
const MOST_FITS = 2000; // texts that are remembered: each step of a zoom has its own

export class Texts {
  private widths = new Map<string, number>(); // as labels
  private fits = new Map<string, string>(); // by font and room

  labelWidth(pen: Pen, text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      pen.font = LABEL_FONT;
      width = pen.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  /** As much of a text as has room; found once for each size of cards. */
  fitting(pen: Pen, text: string, width: number): string {
    const key = `${pen.font}${width}${text}`;
    let shown = this.fits.get(key);
    if (shown === undefined) {
      shown = short(text, 40);
      while (shown.length > 1 && pen.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
      if (this.fits.size > MOST_FITS) this.fits.clear();
      this.fits.set(key, shown);
    }
    return shown;
  }
}
