import { expect } from 'chai';
import { once } from 'node:events';
import { EXIT_BAD_CONFIGURATION } from '../../../shared/config/load.ts';
import { endProcess, LedgerProcesses } from './ledger-processes.ts';

describe('the process of the ledger', function () {
  this.timeout(60_000);
  let processes: LedgerProcesses;

  before(async () => {
    processes = await LedgerProcesses.open();
  });
  after(() => processes.stop());

  it('exits with 78 and says what is missing when it is not configured', async () => {
    const child = processes.spawn({});
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(child, 'close');
    expect(child.exitCode).to.equal(EXIT_BAD_CONFIGURATION);
    expect(said).to.include('NATS_URL: must be set');
  });

  it('ends cleanly on SIGTERM', async () => {
    expect(await endProcess(await processes.startReady(), 'SIGTERM')).to.equal(0);
  });
});
