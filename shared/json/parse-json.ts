/** What a text says in JSON; undefined when it is none, so that the schema of whoever reads it refuses it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
