/** Gives names to styles as they are needed; equal styles have one name. */
export class StyleBook {
  readonly #names = new Map<string, string>();

  /** The name of an automatic style of this family with these properties and attributes. */
  name(family: string, properties: string, attributes = ''): string {
    const key = `style:family="${family}"${attributes === '' ? '' : ` ${attributes}`}>${properties}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = `A${this.#names.size + 1}`;
    this.#names.set(key, name);
    return name;
  }

  /** All of them, as XML. */
  toXml(): string {
    return [...this.#names].map(([key, name]) => `<style:style style:name="${name}" ${key}</style:style>`).join('\n');
  }
}
