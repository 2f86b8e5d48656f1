// The page of a session on its own.

import * as keys from "./keys.js";
import { Log } from "./log.js";

const log = new Log(document.getElementById("log"));
keys.bind("f", () => log.toggle());
