import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import type { OutputFormat } from '../../../../shared/domain/catalogue/options/options.ts';

/** What this engine writes. */
export const IMAGE_OUTPUTS = ['avif', 'bmp', 'gif', 'ico', 'jp2', 'jpg', 'jxl', 'pcx', 'pdf', 'png', 'ppm', 'qoi', 'tga', 'tiff', 'webp'] as const satisfies readonly OutputFormat[];

/** One of `IMAGE_OUTPUTS`. */
export type ImageOutput = (typeof IMAGE_OUTPUTS)[number];

/** Targets that are one picture each, as sharp draws it; a pdf is made of several. */
export type DrawnOutput = Exclude<ImageOutput, 'pdf'>;

/** Targets of which ffmpeg makes the container, out of a picture that sharp has drawn. */
export const PACKED_OUTPUTS = ['bmp', 'jp2', 'jxl', 'pcx', 'ppm', 'qoi', 'tga'] as const satisfies readonly ImageOutput[];

/** One of `PACKED_OUTPUTS`. */
export type PackedOutput = (typeof PACKED_OUTPUTS)[number];

/** True when this engine writes the format. */
export function isImageOutput(format: FormatName): format is ImageOutput {
  return (IMAGE_OUTPUTS as readonly FormatName[]).includes(format);
}

/** True when ffmpeg makes the container of the format. */
export function isPackedOutput(format: FormatName): format is PackedOutput {
  return (PACKED_OUTPUTS as readonly FormatName[]).includes(format);
}
