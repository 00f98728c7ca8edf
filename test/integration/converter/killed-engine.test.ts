import { expect } from 'chai';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { EngineKilled } from '../../../services/converter/engines/failure.ts';
import { createSandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { convertIn } from '../../contract/engine/suite.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { makeNoise } from '../../support/pictures.ts';
import { descendantsOf } from '../../support/process-tree.ts';

const STARTED_LIMIT_MS = 20_000;
/** The whole sandbox, and without bubblewrap, where another process reports the end. */
const SANDBOXES = { 'the whole sandbox': 'require', 'a sandbox without bubblewrap': 'limits' } as const;

describe('killing the process of a conversion (D37)', function () {
  this.timeout(60_000);

  for (const [name, mode] of Object.entries(SANDBOXES)) {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      it(`by ${signal} in ${name} is told from a fault of the file`, async () => {
        const sandbox = await createSandbox({ mode });
        const source = await makeNoise(1_000, 800);
        const converting = convertIn(sandbox, createImageEngine(), { source, input: 'jpg', output: 'avif', options: { effort: 9, lossless: true }, timeLimitMs: 40_000 });
        const killed = expectFailure(converting, EngineKilled);
        process.kill(await pidOfChild(), signal);
        await killed;
      });
    }
  }

  it('leaves nobody behind', () => {
    expect(descendantsOf(process.pid).filter(({ command }) => command.includes('engines/image/child'))).to.deep.equal([]);
  });
});

/** The innermost process: the one that reads the file. */
async function pidOfChild(): Promise<number> {
  return waitFor('the process of the conversion', STARTED_LIMIT_MS, () => descendantsOf(process.pid).find(({ command }) => /^\S*node .*engines\/image\/child/.test(command))?.pid);
}
