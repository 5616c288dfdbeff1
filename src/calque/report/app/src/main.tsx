// Starts the page: inflate the data, show the view; whatever goes wrong is said on the page.

import { render } from "preact";
import { follow } from "./address";
import { App, Root } from "./app";
import { inflate } from "./data";
import "./style.css";

async function start(): Promise<void> {
  const place = document.getElementById("app") as HTMLElement;
  try {
    follow();
    const app = new App(await inflate());
    render(<Root app={app} />, place);
    document.body.dataset.ready = "true";
  } catch (error) {
    place.textContent = `This report could not be shown: ${error}. A browser of 2024 or later is needed.`;
    document.body.dataset.ready = "error";
  }
}

void start();
