import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from './installation.ts';

/** A setting of the suite: folder of its registry, name, value. */
type Setting = readonly [path: string, name: string, value: string];

const SECURITY = '/org.openoffice.Office.Common/Security/Scripting';

/**
 * What every profile says. The sandbox is the wall; these keep a document from even trying: no links to elsewhere, no
 * macros, nothing that is brought up to date on load. The first two spare the suite its set-up.
 */
const SETTINGS: readonly Setting[] = [
  ['/org.openoffice.Setup/L10N', 'ooLocale', 'en-US'],
  ['/org.openoffice.Setup/Office', 'ooSetupInstCompleted', 'true'],
  [SECURITY, 'BlockUntrustedRefererLinks', 'true'],
  [SECURITY, 'DisableMacrosExecution', 'true'],
  [SECURITY, 'MacroSecurityLevel', '3'],
  ['/org.openoffice.Office.Writer/Content/Update', 'Link', '0'],
  ['/org.openoffice.Office.Calc/Content/Update', 'Link', '2'],
  ['/org.openoffice.Office.Recovery/AutoSave', 'Enabled', 'false'],
];

/** Makes a profile that has seen nothing yet; it is written by hand, because that is faster than letting the suite do it. */
export async function writeProfile(folder: string, { buildId }: Installation): Promise<void> {
  await mkdir(join(folder, 'user', 'extensions'), { recursive: true });
  await writeFile(join(folder, 'user', 'registrymodifications.xcu'), registry());
  if (buildId !== undefined) await writeFile(join(folder, 'user', 'extensions', 'buildid'), buildId);
}

function registry(): string {
  const items = SETTINGS.map(([path, name, value]) => `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`);
  const spaces = 'xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<oor:items ${spaces}>\n${items.join('\n')}\n</oor:items>\n`;
}
