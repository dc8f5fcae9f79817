// Runs before the package is packed, and when npm installs it from a clone (`npm install -g .`): installs what the
// build needs and builds what is out of date.
import { ensureBuilt, ensureInstalled } from './setup.mjs';

ensureInstalled();
ensureBuilt({ types: true });
