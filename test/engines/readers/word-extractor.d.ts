/** The part of the package that is used here; it has no types of its own. */
declare module 'word-extractor' {
  export default class WordExtractor {
    extract(file: Buffer): Promise<{ getBody(): string }>;
  }
}
