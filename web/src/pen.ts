// What pictures are drawn with: the part of a canvas that is used, and the same as SVG.

export interface Pen {
  strokeStyle: string | CanvasGradient | CanvasPattern;
  fillStyle: string | CanvasGradient | CanvasPattern;
  lineWidth: number;
  lineCap: CanvasLineCap;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  quadraticCurveTo(cx: number, cy: number, x: number, y: number): void;
  closePath(): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  rect(x: number, y: number, width: number, height: number): void;
  roundRect(x: number, y: number, width: number, height: number, radius: number): void;
  stroke(): void;
  fill(): void;
  fillText(text: string, x: number, y: number): void;
  setLineDash(dash: number[]): void;
  measureText(text: string): { width: number };
}

const ANCHORS: Record<string, string> = { center: "middle", right: "end" };

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Writes SVG; letters are measured by a canvas. */
export class SvgPen implements Pen {
  strokeStyle = "#000";
  fillStyle = "#000";
  lineWidth = 1;
  lineCap: CanvasLineCap = "butt";
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private trail = "";
  private dash: number[] = [];
  private parts: string[] = [];
  private ruler = document.createElement("canvas").getContext("2d")!;

  beginPath(): void {
    this.trail = "";
  }
  moveTo(x: number, y: number): void {
    this.trail += `M${short(x)} ${short(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.trail += `L${short(x)} ${short(y)}`;
  }
  quadraticCurveTo(cx: number, cy: number, x: number, y: number): void {
    this.trail += `Q${short(cx)} ${short(cy)} ${short(x)} ${short(y)}`;
  }
  closePath(): void {
    this.trail += "Z";
  }
  /** Parts of circles and whole ones; the latter as two halves. */
  arc(x: number, y: number, radius: number, from: number, to: number): void {
    const at = (angle: number): string => `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`;
    const half = (from + to) / 2;
    const r = `${short(radius)} ${short(radius)} 0 0 1`;
    this.trail += `M${at(from)}A${r} ${at(half)}A${r} ${at(to)}`;
  }
  rect(x: number, y: number, width: number, height: number): void {
    this.trail += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }
  roundRect(x: number, y: number, width: number, height: number, radius: number): void {
    const r = Math.min(radius, width / 2, height / 2);
    const corner = (dx: number, dy: number): string => `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
    this.trail +=
      `M${short(x + r)} ${short(y)}h${short(width - 2 * r)}${corner(r, r)}v${short(height - 2 * r)}${corner(-r, r)}` +
      `h${short(2 * r - width)}${corner(-r, -r)}v${short(2 * r - height)}${corner(r, -r)}Z`;
  }
  stroke(): void {
    const round = this.lineCap === "round" ? ' stroke-linecap="round"' : "";
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.parts.push(
      `<path d="${this.trail}" fill="none" stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}"${round}${dash}${this.opacity}/>`,
    );
  }
  fill(): void {
    this.parts.push(`<path d="${this.trail}" fill="${this.fillStyle}"${this.opacity}/>`);
  }
  fillText(text: string, x: number, y: number): void {
    const anchor = ANCHORS[this.textAlign] ? ` text-anchor="${ANCHORS[this.textAlign]}"` : "";
    const [weight, size, family] = this.font.match(/^(?:(\d+) )?([\d.]+)px (.*)$/)!.slice(1);
    const middle = this.textBaseline === "middle" ? 0.35 * +size : 0;
    this.parts.push(
      `<text x="${short(x)}" y="${short(y + middle)}" font-size="${size}" font-weight="${weight ?? 400}" ` +
        `font-family="${escape(family)}" fill="${this.fillStyle}"${anchor}${this.opacity}>${escape(text)}</text>`,
    );
  }
  setLineDash(dash: number[]): void {
    this.dash = dash;
  }
  measureText(text: string): { width: number } {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  private get opacity(): string {
    return this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
  }

  toString(width: number, height: number, title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `role="img"><title>${escape(title)}</title>${this.parts.join("\n")}</svg>\n`
    );
  }
}
