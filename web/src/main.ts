// One script for both: in a worker it answers questions, on the page it shows the model.

import { Page } from "./page";
import type { Document } from "./document";
import { serve } from "./worker";

if (typeof document === "undefined") {
  serve(self as unknown as Parameters<typeof serve>[0]);
} else {
  const script = document.currentScript!.textContent ?? "";
  const told = JSON.parse(document.getElementById("document")!.textContent!) as Document;
  const isServed = document.documentElement.dataset.answerer === "server";
  new Page(told, isServed ? null : script, document.getElementById("page")!);
}
