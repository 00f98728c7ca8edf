import { findTool } from '../../../shared/tools/find-tool.ts';

/** Names under which Chromium and its kin are installed. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Path of a Chromium of this machine: `CHROMIUM_BIN`, else the first on the PATH. */
export function findBrowser(): string | undefined {
  const chosen = process.env['CHROMIUM_BIN'];
  if (chosen !== undefined && chosen !== '') return findTool('chromium', chosen);
  return NAMES.map((name) => findTool(name)).find((path) => path !== undefined);
}
