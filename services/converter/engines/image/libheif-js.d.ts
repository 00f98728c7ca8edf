declare module 'libheif-js/libheif-wasm/libheif.js' {
  /** Handles are numbers inside the module; they are given back, or the memory of the module only grows. */
  export interface Libheif {
    readonly heif_error_code: { readonly heif_error_Ok: unknown };
    readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown };
    readonly heif_chroma: { readonly heif_chroma_interleaved_RGB: unknown; readonly heif_chroma_interleaved_RGBA: unknown };
    readonly heif_channel: { readonly heif_channel_interleaved: unknown };
    heif_get_version(): string;
    heif_context_alloc(): unknown;
    heif_context_read_from_memory(context: unknown, bytes: Uint8Array): { readonly code: unknown };
    /** A handle, or an error, which has a code. */
    heif_js_context_get_primary_image_handle(context: unknown): { readonly code?: unknown } | undefined;
    heif_image_handle_get_width(handle: unknown): number;
    heif_image_handle_get_height(handle: unknown): number;
    heif_image_handle_has_alpha_channel(handle: unknown): number;
    /** Pixels upright and in the given layout, or an error, which has a code. */
    heif_js_decode_image2(handle: unknown, colourSpace: unknown, chroma: unknown): Promise<HeifPixels> | HeifPixels;
  }

  export interface HeifPixels {
    readonly code?: unknown;
    readonly channels?: readonly { readonly id: unknown; readonly width: number; readonly height: number; readonly stride: number; readonly data: Uint8Array }[];
  }

  const open: (options: { readonly wasmBinary: Uint8Array; readonly print: (text: string) => void; readonly printErr: (text: string) => void }) => Libheif;
  export default open;
}
