import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { loadSettings } from '../../../shared/config/load.ts';
import { EGRESS_SETTINGS, openEgress } from '../../../shared/egress/open-egress.ts';
import { ConfigurationError } from '../../../shared/errors/errors.ts';
import { createAuthority } from '../../support/certificates.ts';
import { runProgram } from '../../support/run-program.ts';

describe('The settings of outbound requests', function () {
  this.timeout(60_000);
  let folder: string;
  let lines: string[] = [];
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'test-egress-'))));
  beforeEach(() => void (lines = []));
  after(() => rm(folder, { recursive: true, force: true }));

  function open(environment: Readonly<Record<string, string>>): ReturnType<typeof openEgress> {
    return openEgress(loadSettings(environment, EGRESS_SETTINGS), pino({}, { write: (line) => void lines.push(line) }));
  }

  it('refuse a file of certificates that is not there, holds none, or is broken', async () => {
    await writeFile(join(folder, 'empty.pem'), '');
    await writeFile(join(folder, 'broken.pem'), '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
    for (const name of ['missing.pem', 'empty.pem', 'broken.pem']) expect(() => open({ OUTBOUND_CA_FILE: join(folder, name) }), name).to.throw(ConfigurationError);
  });

  it('refuse servers and ranges that are none', () => {
    for (const servers of ['dns.example.com', '10.0.0.2:99999', '10.0.0.2:', '[10.0.0.2]:53', 'fd00::2', '[fd00::2', '10.0.0.2 53']) expect(() => open({ OUTBOUND_DNS_SERVERS: servers }), servers).to.throw(ConfigurationError);
    for (const ranges of ['10.0.0.0/33', 'example.com', '10.0.0.0/8/8']) expect(() => open({ OUTBOUND_ALLOWED_ADDRESSES: ranges }), ranges).to.throw(ConfigurationError);
    expect(open({ OUTBOUND_DNS_SERVERS: '10.0.0.2, 10.0.0.3:5353,[fd00::2]:53,[fd00::3]' }).dnsServers).to.deep.equal(['10.0.0.2', '10.0.0.3:5353', '[fd00::2]:53', '[fd00::3]']);
  });

  it('are warned about when they open the way to other than public hosts', async () => {
    await writeFile(join(folder, 'ca.pem'), createAuthority().cert);
    open({ OUTBOUND_CA_FILE: join(folder, 'ca.pem'), OUTBOUND_ALLOWED_ADDRESSES: '10.1.2.3/32' });
    expect(lines).to.have.length(2);
    for (const name of ['OUTBOUND_ALLOWED_ADDRESSES', 'OUTBOUND_CA_FILE']) expect(lines.join('')).to.contain(`${name} is set`);
  });

  it('say nothing when they are not set', () => {
    open({});
    expect(lines).to.deep.equal([]);
  });

  it('end the importer with 78 when they are wrong, before it does anything', async () => {
    const environment = { NATS_URL: 'nats://127.0.0.1:1', MASTER_KEY: Buffer.alloc(32).toString('base64'), OUTBOUND_CA_FILE: join(folder, 'missing.pem') };
    const { code, stderr } = await runProgram(process.execPath, ['--import', 'tsx', 'services/importer/main.ts'], { environment });
    expect([code, stderr.trim()]).to.deep.equal([78, 'OUTBOUND_CA_FILE: must be a readable file of certificates in PEM']);
  });
});
