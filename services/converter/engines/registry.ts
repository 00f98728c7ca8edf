import type { Engine } from './engine.ts';
import { createImageEngine } from './image/engine.ts';

/** Every engine of this installation by its name; the `engine` of a pair names the one that converts it. */
export function createEngines(): ReadonlyMap<string, Engine> {
  return new Map([createImageEngine()].map((engine) => [engine.name, engine]));
}
