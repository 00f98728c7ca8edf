import type { Candidate, Order } from '../apt.ts';
import { DESKTOP_OFFICE_PACKAGES, OFFICE_PACKAGES, OFFICE_VERSION_WANTED } from './packages.ts';

/** Names of two packages by whose versions the choice is made. */
export const OFFICE_MARKS = { writer: 'libreoffice-writer-nogui', dialogues: 'libreoffice-uiconfig-writer' } as const;

/** What a machine's archives hold of those two packages, and what is installed. */
export interface OfficeSituation {
  readonly writer: readonly Candidate[];
  readonly dialogues: readonly Candidate[];
  readonly installed: ReadonlySet<string>;
}

/** True when LibreOffice is there with all that conversions need. */
export function hasOffice(installed: ReadonlySet<string>): boolean {
  return [OFFICE_PACKAGES, DESKTOP_OFFICE_PACKAGES].some((packages) => packages.every((name) => installed.has(name)));
}

/** True when no suite but backports holds the LibreOffice that is wanted, so that it is worth looking there. */
export function needsBackports({ writer, installed }: OfficeSituation): boolean {
  return !hasDesktop(installed) && !writer.some((candidate) => isWanted(candidate) && !isBackports(candidate));
}

/**
 * LibreOffice for a machine, the best first: the wanted version out of its own release, else out of backports, else what the
 * release has. Who has LibreOffice's windows keeps them: the two kinds exclude each other.
 */
export function chooseOffice(situation: OfficeSituation): readonly Order[] {
  const { writer, dialogues, installed } = situation;
  if (hasDesktop(installed)) return [{ packages: DESKTOP_OFFICE_PACKAGES }];
  const backports = needsBackports(situation) ? writer.find((candidate) => isWanted(candidate) && isBackports(candidate)) : undefined;
  const hasDialogues = dialogues.some((candidate) => !isBackports(candidate));
  const own: Order = { packages: hasDialogues ? OFFICE_PACKAGES : DESKTOP_OFFICE_PACKAGES };
  return backports === undefined ? [own] : [{ packages: OFFICE_PACKAGES, suite: backports.suite }, own];
}

/** What to install where apt cannot tell what there is: Debian 12 alone has the wanted version in backports and not itself. */
export function guessOffice(codename: string | undefined): Order {
  return codename === 'bookworm' ? { packages: OFFICE_PACKAGES, suite: 'bookworm-backports' } : { packages: OFFICE_PACKAGES };
}

/** What a choice may remove: nothing but the kind of LibreOffice that it takes the place of. */
export function mayRemove(choice: Order, names: readonly string[]): boolean {
  return choice.packages === DESKTOP_OFFICE_PACKAGES ? names.every((name) => /^libreoffice-[a-z]+-nogui$/.test(name)) : names.length === 0;
}

/** `libreoffice-core` is what the windows are drawn by, and `-nogui` excludes. */
function hasDesktop(installed: ReadonlySet<string>): boolean {
  return installed.has('libreoffice-core');
}

function isBackports({ suite }: Candidate): boolean {
  return suite.includes('-backports');
}

/** Versions look like `4:25.2.3-2`. */
function isWanted({ version }: Candidate): boolean {
  const [, major = 0, minor = 0] = (/^(?:\d+:)?(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  const [wantedMajor, wantedMinor] = OFFICE_VERSION_WANTED;
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
