import { join } from 'node:path';

/** Memory for stored objects; taken only as it is used. */
const STORE_BYTES = 4 * 2 ** 30;

/** Where the daemons of one Ceph listen, and where they keep what they have. */
export type CephPlace = {
  readonly folder: string;
  readonly fsid: string;
  readonly monitorPorts: readonly [number, number];
  readonly gatewayPort: number;
};

/**
 * One monitor, one OSD with objects in memory, one gateway; loopback only. Without authentication between the daemons
 * the messages of their clients may not ask for it either, or the gateway is refused.
 */
export function renderCephConfiguration({ folder, fsid, monitorPorts, gatewayPort }: CephPlace): string {
  return `[global]
fsid = ${fsid}
mon host = ${monitorAddress(monitorPorts)}
mon initial members = a
public network = 127.0.0.0/8
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms mon cluster mode = crc
ms mon service mode = crc
ms bind ipv6 = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail warn = 1
mon data avail crit = 1
run dir = ${folder}
log file = ${join(folder, '$name.log')}
[osd]
osd objectstore = memstore
memstore device bytes = ${STORE_BYTES}
osd class load list = *
osd class default list = *
[client.rgw.a]
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort}
rgw enable apis = s3
rgw enable usage log = false
rgw dns name = 127.0.0.1
# Tests send parts of a few bytes; S3 wants 5 MiB.
rgw multipart min part size = 1
`;
}

/** Both addresses of the monitor, for the new and the old protocol. */
export function monitorAddress([v2, v1]: readonly [number, number]): string {
  return `[v2:127.0.0.1:${v2},v1:127.0.0.1:${v1}]`;
}
