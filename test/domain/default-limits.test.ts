import { expect } from 'chai';
import { budgetLimitsOf, readApiSettings } from '../../services/api/config.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { DELIVERY_ATTEMPTS_MAX } from '../../shared/domain/delivery.ts';
import { WEBHOOK_ENDPOINTS_MAX } from '../../shared/domain/webhooks.ts';

const NEEDED = { NATS_URL: 'nats://127.0.0.1:4222', DATABASE_URL: 'postgres://127.0.0.1/x', MASTER_KEY: Buffer.alloc(32).toString('base64') };
const MIB = 1_048_576;
const HOUR_MS = 3_600_000;

describe('the limits of an api that is told nothing else', () => {
  const { settings, config } = readApiSettings(NEEDED);

  it('take 100 MB in one upload and 1 GB in all (§8 maximum input size, §8 single upload, D42, D98)', () => {
    expect([config.uploadBytesMax, config.inputBytesMax]).to.deep.equal([100 * MIB, 1024 * MIB]);
  });

  it('give an hour to a single upload, 15 minutes to a part, two hours to the file, a day to the result and to an Idempotency-Key (§8 upload url validity, §8 never-uploaded job, §8 result retention, §8 idempotency-key)', () => {
    const { uploadUrlTtlMs, partUrlTtlMs, uploadWindowMs, resultTtlMs, idempotencyTtlMs } = config;
    expect([uploadUrlTtlMs, partUrlTtlMs, uploadWindowMs, resultTtlMs, idempotencyTtlMs]).to.deep.equal([HOUR_MS, HOUR_MS / 4, 2 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS]);
  });

  it('let a key ask 30, 120 and 300 times a minute, and an address fail 30 times (§8 rate limits 1, §8 rate limits 5)', () => {
    expect(budgetLimitsOf(settings)).to.deep.equal({ createFree: 30, createActive: 120, other: 300 });
    expect(settings.IP_FAILURE_LIMIT).to.equal(30);
  });

  it('give a receiver 10 seconds and five attempts, five days of failures, and a day of two secrets; an organization 20 endpoints (§8 webhook response deadline, §8 webhook endpoints per organization, §6 delivery 2, §6 delivery 3, §6 signature 4)', () => {
    const webhooks = loadSettings({}, ['WEBHOOK_TIMEOUT_SECONDS', 'WEBHOOK_RETRY_DELAYS_SECONDS', 'WEBHOOK_DISABLE_AFTER_SECONDS', 'WEBHOOK_ROTATION_OVERLAP_SECONDS']);
    expect(webhooks).to.deep.equal({ WEBHOOK_TIMEOUT_SECONDS: 10, WEBHOOK_RETRY_DELAYS_SECONDS: [60, 300, 900, 3600], WEBHOOK_DISABLE_AFTER_SECONDS: 5 * 86_400, WEBHOOK_ROTATION_OVERLAP_SECONDS: 86_400 });
    expect([DELIVERY_ATTEMPTS_MAX, WEBHOOK_ENDPOINTS_MAX]).to.deep.equal([5, 20]);
  });
});
