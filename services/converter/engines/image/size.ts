import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The smallest upright rectangle around a picture turned by so many degrees. */
export function turnedSize({ width, height }: Size, degrees: number): Size {
  const angle = (Math.abs(degrees) * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))];
  return { width: Math.round(width * cos + height * sin), height: Math.round(width * sin + height * cos) };
}

/** The size a picture will have after it was fitted into `width` × `height`, known before anything is decoded. */
export function fittedSize(size: Size, { width, height, fit = 'inside', enlarge = true }: CommonImageOptions): Size {
  if (width !== undefined && height !== undefined && fit !== 'inside' && fit !== 'outside') return { width, height };
  const scales = [width === undefined ? [] : width / size.width, height === undefined ? [] : height / size.height].flat();
  if (scales.length === 0) return size;
  const wanted = fit === 'outside' ? Math.max(...scales) : Math.min(...scales);
  const scale = enlarge ? wanted : Math.min(1, wanted);
  return { width: Math.max(1, Math.round(size.width * scale)), height: Math.max(1, Math.round(size.height * scale)) };
}
