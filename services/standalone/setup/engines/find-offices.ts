import type { Apt, Order } from '../apt.ts';
import { briefly, type Say } from '../step.ts';
import { chooseOffice, mayRemove, needsBackports, OFFICE_MARKS, type OfficeSituation } from './choose-office.ts';
import { readInstalled } from './installed.ts';

/** Ways to get LibreOffice that apt would go, the best one first. Throws Error when apt does not answer. */
export async function findOffices(apt: Apt, codename: string | undefined, say: Say): Promise<readonly Order[]> {
  const willing: Order[] = [];
  for (const choice of chooseOffice(await lookAtArchives(apt, codename, say))) {
    const name = `${choice.packages[0]}${choice.suite === undefined ? '' : ` from ${choice.suite}`}`;
    try {
      const removed = await apt.wouldRemove(choice);
      if (mayRemove(choice, removed)) willing.push(choice);
      else say(`not ${name}, which would remove ${removed.join(', ')}`);
    } catch (error) {
      say(`not ${name}: ${briefly(error)}`);
    }
  }
  return willing;
}

async function lookAtArchives(apt: Apt, codename: string | undefined, say: Say): Promise<OfficeSituation> {
  const installed = await readInstalled();
  const look = async (): Promise<OfficeSituation> => ({ writer: await apt.candidates(OFFICE_MARKS.writer), dialogues: await apt.candidates(OFFICE_MARKS.dialogues), installed });
  const situation = await look();
  if (codename === undefined || !needsBackports(situation)) return situation;
  try {
    await apt.addSuite(`${codename}-backports`);
  } catch (error) {
    say(`no backports: ${briefly(error)}`);
  }
  return look();
}
