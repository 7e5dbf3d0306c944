import { afterAll, expect, test } from 'bun:test'
import { makeSshKey } from '../../../src/platform/ssh-key.ts'
import type { Target } from '../../../src/backups/restic/restic.ts'
import { startSshServer } from '../../support/ssh-server.ts'
import { collect, scene, signal, write } from './scene.ts'
import { hostAddress, login, startRest } from './servers.ts'
import { s3Keys, startS3 } from '../../support/s3-server.ts'

const s = await scene()
const [rest, address] = await Promise.all([startRest(), hostAddress()])
const s3 = startS3({ hostname: address })
const ssh = await startSshServer({ address })
afterAll(() => Promise.all([s3.stop(), ssh.stop()]).then(() => {}))
const pair = makeSshKey()
ssh.allow(pair.publicKey)
const folder = s.folder()

const targets: [string, Partial<Target>][] = [
  ['s3', { endpoint: s3.url, bucket: 'backups', region: 'us-east-1', ...s3Keys }],
  ['rest', { url: `http://${login.user}:${login.password}@${rest.address}/mine/` }],
  ['sftp', { host: `${address}:${ssh.port}`, user: 'root', path: folder, key: pair.privateKey }],
]

test.each(targets)('a target of kind %s is tried, written and read', async (kind, fields) => {
  const target = s.target({ ...fields, kind: kind as Target['kind'] })
  const { hostKey } = await s.open(target).tryOut({ signal })
  expect(hostKey).toEqual(kind === 'sftp' ? expect.stringMatching(/^ssh-ed25519 AAAA/) : null)
  const restic = s.open({ ...target, hostKey })
  expect(await restic.list({ signal })).toEqual([])
  const bytes = crypto.getRandomValues(new Uint8Array(300_000))
  const stored = await restic.store({
    file: 'dump',
    tags: ['backup=1'],
    from: write(bytes),
    signal,
  })
  let read = Buffer.alloc(0)
  const to = async (from: AsyncIterable<Uint8Array>) => void (read = await collect(from))
  await restic.read({ snapshot: stored.id, file: 'dump', to, signal })
  expect(read.equals(bytes)).toBe(true)
})

test('a name is looked up by Davit alone, and a private address of it is refused', async () => {
  const { port } = new URL(rest.url)
  const url = `http://${login.user}:${login.password}@rest.example.com:${port}/named/`
  const open = (found: string) => s.open({ kind: 'rest', url }, { lookup: async () => [found] })
  expect(await open(address).tryOut({ signal })).toEqual({ hostKey: null })
  expect(open('10.0.0.7').ready({ signal })).rejects.toMatchObject({ code: 'host_refused' })
})

test('a host with another key than at first gets nothing', async () => {
  const [, fields] = targets[2]!
  const target = s.target({ ...fields, kind: 'sftp', path: s.folder() })
  const { hostKey } = await s.open(target).tryOut({ signal })
  await ssh.changeHostKey()
  expect(s.open({ ...target, hostKey }).ready({ signal })).rejects.toMatchObject({
    code: 'target_host_key',
  })
})
