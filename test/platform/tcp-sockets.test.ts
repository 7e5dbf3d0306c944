import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listenersOn } from '../../src/platform/tcp-sockets.ts'
import { aFolder } from '../support/folder.ts'

test('who listens on a port is found, unless it can’t be seen', async () => {
  const proc = aFolder()
  const head =
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
  const row = (address: string, state: string, inode: number) =>
    `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100\n`
  mkdirSync(join(proc, 'net'))
  mkdirSync(join(proc, '312/fd'), { recursive: true })
  const v4 = row('00000000:0050', '0A', 77) + row('0100007F:0BB8', '01', 78) // 3000 isn't listening
  writeFileSync(join(proc, 'net/tcp'), head + v4)
  writeFileSync(
    join(proc, 'net/tcp6'),
    head + row('00000000000000000000000000000000:01BB', '0A', 79),
  )
  symlinkSync('socket:[77]', join(proc, '312/fd/4'))
  writeFileSync(join(proc, '312/comm'), 'nginx\n')
  expect(await listenersOn([80, 443, 3000], proc)).toEqual([
    { port: 80, by: { name: 'nginx', pid: 312 } },
    { port: 443, by: null },
  ])
})

test('a port of this process is found', async () => {
  using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  expect(await listenersOn([listener.port])).toMatchObject([{ by: { pid: process.pid } }])
})

test('who listens stays known after the right to see it is given up, as long as the socket is there', async () => {
  const proc = aFolder()
  const listenBy = (inode: number) =>
    writeFileSync(
      join(proc, 'net/tcp'),
      `head\n 0: 00000000:0050 00000000:0000 0A 0:0 0:0 0 0 0 ${inode} 1\n`,
    )
  mkdirSync(join(proc, 'net'))
  mkdirSync(join(proc, '312/fd'), { recursive: true })
  symlinkSync('socket:[77]', join(proc, '312/fd/4'))
  writeFileSync(join(proc, '312/comm'), 'nginx\n')
  listenBy(77)
  const nginx = [{ port: 80, by: { name: 'nginx', pid: 312 } }]
  expect(await listenersOn([80], proc)).toEqual(nginx)
  rmSync(join(proc, '312'), { recursive: true })
  expect(await listenersOn([443], proc)).toEqual([])
  expect(await listenersOn([80], proc)).toEqual(nginx)
  listenBy(78)
  expect(await listenersOn([80], proc)).toEqual([{ port: 80, by: null }])
})
