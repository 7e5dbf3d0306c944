import { afterAll, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { prove } from '../../src/backups/proof/prove.ts'
import { getBackup } from '../../src/backups/store.ts'
import { listTargets } from '../../src/backups/targets/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { Random } from '../interleavings/random.ts'
import { firstSeed } from '../interleavings/run-orders.ts'

const t = testApp({ DAVIT_RESTIC_IMAGE: await ensureRestic('0.18') }, { atEnd: afterAll })
const { signal } = new AbortController()
const root = t.logInAsAdmin()
const folder = mkdtempSync(join(tmpdir(), 'davit-target-'))
const whole = mkdtempSync(join(tmpdir(), 'davit-whole-'))
afterAll(() => {
  for (const one of [folder, whole]) rmSync(one, { recursive: true, force: true })
})

/** A service with a volume of 300 KB, backed up and proven once, so that restic has read all of it before. */
async function aBackup() {
  await root.post('/settings/targets', { kind: 'directory', name: 'disk', path: folder })
  const [target] = listTargets(t.db, root.user.id)
  await (await t.deps.openRestic(target!)).prepare({ signal })
  const compose =
    'services: { one: { image: busybox, init: true, command: [sleep, "9999"], volumes: ["data:/data"] } }\nvolumes: { data: {} }'
  const { id, containers } = await made(t, root, compose)
  const fill =
    'for n in 1 2 3; do mkdir /data/$n; head -c 100000 /dev/urandom > /data/$n/file; done'
  await execIn(containers[0].id, ['sh', '-c', fill], {})
  const { json, text } = await root.post(`/services/${id}/backups`, { targetId: target!.id })
  if (!json?.id) throw new Error(text)
  await t.jobs.idle()
  return getBackup(t.db, json.id)!
}

const backup = await aBackup()
/** The code of what a proof found; null when it found nothing. */
const proof = () =>
  prove(t.deps, { backup, log: { write() {} } as never, signal }).then(
    () => null,
    (error) => (error instanceof Failure ? error.code : String(error)),
  )

test('the undamaged one is proven', async () => {
  expect(await proof()).toBeNull()
})

type File = { path: string; size: number }

/** Of the repository, without locks. */
const filesOf = (at: string): File[] =>
  readdirSync(at, { recursive: true, withFileTypes: true }).flatMap((one) => {
    const path = join(one.parentPath, one.name)
    if (!one.isFile() || path.includes('/locks/')) return []
    return { path: relative(at, path), size: statSync(path).size }
  })

/** Where the header of a pack begins, which only repairs read: its last four bytes are the header’s length. */
const headerOf = ({ path, size }: File) =>
  size - 4 - readFileSync(join(whole, path)).readUInt32LE(size - 4)

test('of 100 backups with one byte changed, a file cut or swapped, a proof finds 100', async () => {
  cpSync(folder, whole, { recursive: true })
  const { pick, below } = new Random(firstSeed(26))
  let found = 0
  const missed: string[] = []
  const kinds = Map.groupBy(filesOf(whole), ({ path }) => path.split('/')[0]!)
  expect([...kinds.keys()].sort()).toEqual(['config', 'data', 'index', 'keys', 'snapshots'])
  for (let round = 0; round < 100; round++) {
    const kind = [...kinds.keys()][round % kinds.size]!
    const file = pick(kinds.get(kind)!)
    const at = below(kind === 'data' ? headerOf(file) : file.size)
    const others = kinds.get(kind)!.filter(({ path }) => path !== file.path)
    const harm = ['changed', 'cut', others.length > 0 ? 'swapped' : 'changed'][round % 3]!
    const path = join(folder, file.path)
    chmodSync(path, 0o600)
    if (harm === 'cut') truncateSync(path, at)
    else if (harm === 'swapped') cpSync(join(whole, pick(others).path), path)
    else {
      const bytes = readFileSync(path)
      bytes[at]! ^= 1 << below(8)
      writeFileSync(path, bytes)
    }
    const code = await proof()
    if (code === 'target_damaged') found++
    else missed.push(`${file.path} ${harm} at ${at}: ${code}`)
    cpSync(join(whole, file.path), path)
  }
  expect({ missed, found }).toEqual({ missed: [], found: 100 })
  expect(await proof()).toBeNull()
}, 1_800_000)
