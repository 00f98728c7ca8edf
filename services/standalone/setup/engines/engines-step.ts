import { findTool } from '../../../../shared/tools/find-tool.ts';
import { Apt, findMainArchive, type Order } from '../apt.ts';
import { inspectMachine } from '../machine.ts';
import { briefly, type Say, type StepResult } from '../step.ts';
import { guessOffice } from './choose-office.ts';
import { commandsFor } from './commands.ts';
import { findOffices } from './find-offices.ts';
import { findMissing, readInstalled, type Missing } from './installed.ts';
import { ENGINE_PACKAGES } from './packages.ts';

const WITHOUT = 'The service runs with what is there and offers what that converts, images and plain texts in any case.';

/**
 * Brings the programs and fonts that conversions are made with, as packages of this machine's own system. Where that
 * is not possible it says what to do, and everything else goes on.
 */
export async function bringEngines(withFonts: boolean, say: Say): Promise<StepResult> {
  const machine = await inspectMachine();
  if (!machine.isDebianKin) return lookAround();
  const missing = findMissing(await readInstalled(), withFonts);
  if (isNothing(missing)) return { outcome: 'ready', sentence: 'already there' };
  const common: readonly Order[] = missing.packages.length > 0 ? [{ packages: missing.packages }] : [];
  const archive = await findMainArchive(machine.codename);
  // Lists that could not be read name no LibreOffice.
  const tell = (office = guessOffice(machine.codename)): string => commandsFor([...common, ...(missing.office ? [office] : [])], archive?.uri);
  let apt: Apt | undefined;
  try {
    say('reading the lists of this machine’s package archives');
    apt = await Apt.open(say);
    const offices = missing.office ? await findOffices(apt, machine.codename, say) : [];
    const commands = tell(offices[0]);
    if (!machine.isRoot) return { outcome: 'degraded', sentence: `installing packages needs root. ${WITHOUT} What brings the rest:\n${commands}` };
    await install(apt, common, offices, say);
    if (isNothing(findMissing(await readInstalled(), withFonts))) return { outcome: 'ready', sentence: 'installed' };
    return { outcome: 'degraded', sentence: `not everything could be installed, see above. ${WITHOUT} What brings the rest:\n${commands}` };
  } catch (error) {
    return { outcome: 'degraded', sentence: `apt cannot be asked (${briefly(error)}). ${WITHOUT} What brings the rest:\n${tell()}` };
  } finally {
    await apt?.close();
  }
}

/** One order after the other, so that what one lacks does not keep the others away; of LibreOffice the first that works. */
async function install(apt: Apt, common: readonly Order[], offices: readonly Order[], say: Say): Promise<void> {
  const order = async ({ packages, suite }: Order): Promise<boolean> => {
    say(`installing ${packages.join(', ')}${suite === undefined ? '' : ` from ${suite}`}`);
    try {
      await apt.install(suite === undefined ? { packages } : { packages, suite });
      return true;
    } catch (error) {
      say(briefly(error));
      return false;
    }
  };
  for (const each of common) await order(each);
  for (const each of offices) if (await order(each)) return;
}

/** A system whose packages we do not know may have all the programs nevertheless. */
function lookAround(): StepResult {
  const wanted = [...ENGINE_PACKAGES.flatMap(({ programs }) => programs), 'soffice'];
  const absent = wanted.filter((name) => findTool(name) === undefined);
  if (absent.length === 0) return { outcome: 'ready', sentence: 'already there' };
  return { outcome: 'degraded', sentence: `there are no packages for this system here. ${WITHOUT} Install ffmpeg, poppler, qpdf, LibreOffice with its Python UNO bridge and the fonts Liberation, Carlito, Caladea and DejaVu by its own means; the PATH lacks ${absent.join(', ')}.` };
}

function isNothing({ packages, office }: Missing): boolean {
  return packages.length === 0 && !office;
}
