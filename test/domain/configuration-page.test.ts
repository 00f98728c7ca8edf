import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { composeConfigurationPage } from '../../docs/configuration-page.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { SETTINGS } from '../../shared/config/settings.ts';
import { ConfigurationError } from '../../shared/errors/errors.ts';

describe('configuration', () => {
  it('is documented as the schemas say; run "npm run docs" when this fails', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
    expect(page).to.equal(composeConfigurationPage());
    for (const name of Object.keys(SETTINGS)) expect(page).to.contain(`\`${name}\``);
  });

  it('has the limits of the contract as defaults', () => {
    const settings = loadSettings({}, ['PORT', 'UPLOAD_URL_TTL_SECONDS', 'UPLOAD_WINDOW_SECONDS', 'RESULT_TTL_SECONDS', 'MAX_INPUT_BYTES', 'SINGLE_UPLOAD_MAX_BYTES']);
    expect(settings).to.deep.equal({
      PORT: 8080, UPLOAD_URL_TTL_SECONDS: 3600, UPLOAD_WINDOW_SECONDS: 7200, RESULT_TTL_SECONDS: 86_400, MAX_INPUT_BYTES: 1_073_741_824, SINGLE_UPLOAD_MAX_BYTES: 104_857_600,
    });
  });

  it('reports every problem at once, by name', () => {
    const environment = { PORT: '99999', LOG_LEVEL: 'loud', TRUSTED_PROXIES: '10.0.0.0/8,nonsense', MASTER_KEY: 'short' };
    const load = (): unknown => loadSettings(environment, ['PORT', 'LOG_LEVEL', 'TRUSTED_PROXIES', 'MASTER_KEY', 'NATS_URL'], ['NATS_URL']);
    expect(load).to.throw(ConfigurationError);
    try {
      load();
    } catch (error) {
      const { problems } = error as ConfigurationError;
      for (const name of ['PORT', 'LOG_LEVEL', 'TRUSTED_PROXIES', 'MASTER_KEY', 'NATS_URL']) expect(problems.filter((problem) => problem.startsWith(`${name}: `)), name).to.not.be.empty;
    }
  });

  it('takes the settings of a bucket all or none, and no temporary access key', () => {
    const names = ['S3_BUCKET', 'S3_REGION', 'S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;
    const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
      try {
        loadSettings(environment, names);
        return [];
      } catch (error) {
        return (error as ConfigurationError).problems.map((problem) => problem.replace(/:.*/, ''));
      }
    };
    expect(problemsOf({})).to.deep.equal([]);
    expect(problemsOf({ S3_ENDPOINT: 'https://s3.example.com' })).to.deep.equal(['S3_BUCKET', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']);
    const all = { S3_BUCKET: 'files', S3_REGION: 'us-east-1', S3_ACCESS_KEY_ID: 'AKIAEXAMPLE', S3_SECRET_ACCESS_KEY: 'secret' };
    expect(problemsOf(all)).to.deep.equal([]);
    expect(problemsOf({ ...all, S3_ACCESS_KEY_ID: 'ASIAEXAMPLE', S3_BUCKET: 'Not A Bucket' })).to.deep.equal(['S3_BUCKET', 'S3_ACCESS_KEY_ID']);
  });

  it('takes an empty variable as not set', () => {
    expect(loadSettings({ PORT: '' }, ['PORT'])).to.deep.equal({ PORT: 8080 });
  });
});
