// One script for both: in a worker it answers questions, on the page it shows the model.

import { Page } from "./page";
import { serve } from "./worker";

if (typeof document === "undefined") {
  serve(self as unknown as Parameters<typeof serve>[0]);
} else {
  const script = document.currentScript!.textContent ?? "";
  const [text, tables] = ["document", "tables"].map((id) => document.getElementById(id)!.textContent!);
  const isServed = document.documentElement.dataset.answerer === "server";
  new Page({ text, tables }, isServed ? null : script, document.getElementById("page")!);
}
