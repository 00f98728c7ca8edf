import { creditsGrant } from './admin/credits.ts';
import { keyCreate, keyRevoke, keyRotate } from './admin/key.ts';
import { orgCreate, orgSetPlan } from './admin/org.ts';
import { storageInit } from './admin/storage.ts';
import { timersRebuild } from './admin/timers.ts';
import { webhookEnable, webhookList, webhookRotateSecret } from './admin/webhook.ts';
import { runCommands } from './command.ts';

await runCommands('admin', [orgCreate, orgSetPlan, keyCreate, keyRotate, keyRevoke, creditsGrant, webhookList, webhookEnable, webhookRotateSecret, storageInit, timersRebuild], process.argv.slice(2));
