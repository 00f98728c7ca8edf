import { findTool } from '../../../shared/tools/find-tool.ts';

/** Debian packages that bring a Ceph with an S3 gateway. */
export const CEPH_PACKAGES = ['radosgw', 'ceph-mon', 'ceph-osd'] as const;

const NAMES = ['monmaptool', 'ceph-mon', 'ceph', 'ceph-osd', 'radosgw-admin', 'radosgw'] as const;

/** One of the programs that a Ceph is made of. */
export type CephProgram = (typeof NAMES)[number];

/** Paths of the programs, or the names of those that are not there. */
export function findCeph(): { readonly paths: Readonly<Record<CephProgram, string>> } | { readonly missing: readonly CephProgram[] } {
  const found = NAMES.map((name) => [name, findTool(name)] as const);
  const missing = found.flatMap(([name, path]) => (path === undefined ? [name] : []));
  if (missing.length > 0) return { missing };
  return { paths: Object.fromEntries(found) as Record<CephProgram, string> };
}
