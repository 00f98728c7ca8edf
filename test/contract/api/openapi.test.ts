import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../support/run-program.ts';
import { sharedService } from '../../support/service.ts';

type Described = { readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses?: Readonly<Record<string, { readonly headers?: Readonly<Record<string, { readonly schema: { readonly type: string } }>> }>> }>>>> };
type Problem = { readonly ruleId: string; readonly message: string; readonly location: readonly { readonly pointer?: string }[] };

describe('The OpenAPI document (§4.1 GET /openapi.json, §9.6)', function () {
  this.timeout(120_000);
  let folder: string;
  let document: Described;
  let problems: readonly Problem[];

  before(async () => {
    const service = await sharedService();
    folder = await mkdtemp(join(tmpdir(), 'test-openapi-'));
    const file = join(folder, 'openapi.json');
    const served = await (await fetch(`${service.baseUrl}/v1/openapi.json`)).text();
    document = JSON.parse(served) as Described;
    await writeFile(file, served);
    const environment = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const linted = await runProgram('node_modules/.bin/redocly', ['lint', '--format=json', '--extends=recommended', '--max-problems=1000', file], { environment });
    problems = (JSON.parse(linted.stdout) as { problems: Problem[] }).problems;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('says which headers are whole numbers (§8 rate limits 2)', () => {
    const types = new Set<string>();
    for (const item of Object.values(document.paths)) {
      for (const { responses = {} } of Object.values(item)) {
        for (const { headers = {} } of Object.values(responses)) {
          for (const [name, { schema }] of Object.entries(headers)) if (/^(?:X-RateLimit-|Retry-After)/.test(name)) types.add(`${name} ${schema.type}`);
        }
      }
    }
    const names = ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
    expect([...types].sort()).to.deep.equal(names.map((name) => `${name} integer`));
  });

  it('keeps every recommended rule of an independent linter, its examples among them', () => {
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer ?? ''}`)).to.deep.equal([]);
  });
});
