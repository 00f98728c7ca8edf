import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeConfigurationPage } from './configuration-page.ts';
import { composeCoverage } from './coverage/page.ts';
import { composeEventSchemas } from './event-schemas.ts';
import { composeFormatsPage } from './formats-page.ts';
import { composeVectorsFile } from './webhook-vectors.ts';

const folder = import.meta.dirname;

/** Writes the documents that are made out of the code; a test fails when they are not current. */
const eventsFolder = join(folder, 'events');
mkdirSync(eventsFolder, { recursive: true });
for (const old of readdirSync(eventsFolder)) rmSync(join(eventsFolder, old));
for (const { name, text } of composeEventSchemas()) writeFileSync(join(eventsFolder, name), text);
writeFileSync(join(folder, 'configuration.md'), composeConfigurationPage());
writeFileSync(join(folder, 'contract-coverage.md'), composeCoverage().page);
writeFileSync(join(folder, 'formats.md'), composeFormatsPage());
writeFileSync(join(folder, 'webhook-vectors.json'), composeVectorsFile());
