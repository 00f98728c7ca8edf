import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Defect } from '../../../../shared/errors/errors.ts';
import { findProjectRoot } from '../../../../shared/tools/project-root.ts';
import type { Program } from '../../sandbox/program.ts';
import type { Installation } from './installation.ts';

/** Where the build puts the worker; only this folder of the project is shown to it. */
const FOLDER = 'dist/services/converter/engines/office/uno';

/**
 * The worker, run by the Python that knows LibreOffice. `-E -s -B`: nothing from the environment, nothing of the user,
 * and no compiled files beside the sources.
 * @throws Defect when the project has not been built.
 */
export function officeWorker({ python, folder }: Installation): Program {
  const worker = join(findProjectRoot(), FOLDER);
  const script = join(worker, 'worker.py');
  if (!existsSync(script)) throw new Defect(`${FOLDER}/worker.py is missing; npm run build makes it`);
  // The suite reads beside its program folder, too, where it is not below /usr.
  return { command: python, args: ['-E', '-s', '-B', script], readable: [worker, join(folder, '..')] };
}
