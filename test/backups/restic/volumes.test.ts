import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ensureRestic, resticVersions } from '../../support/images/restic.ts'
import { scene, signal } from './scene.ts'

const s = await scene()

const labels = { 'davit.instance': s.deps.instanceId }

async function volume() {
  const name = `test-${crypto.randomUUID()}`
  await s.docker.createVolume({ name, labels })
  return name
}

/** Runs a line with the volume at `/data`, and returns what it writes. */
async function inVolume(name: string, line: string) {
  const { stderr } = await s.docker.runPiped({
    name: `test-${crypto.randomUUID()}`,
    image: 'busybox:latest',
    labels,
    network: 'none',
    command: ['sh', '-c', `exec >&2; cd /data; ${line}`],
    capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'],
    volumes: [{ name, path: '/data' }],
    memoryBytes: 32 * 2 ** 20,
    cpus: 1,
    pidsLimit: 32,
  })
  return stderr
}

const fill = `mkdir -p sub/deep; echo one >sub/deep/a; ln -s sub/deep/a link; ln sub/deep/a hard
  printf '\\0\\1\\2' >'odd  name'; : >empty; chmod 700 sub; chown 999:998 sub/deep/a; chmod 4750 sub/deep/a
  chown 999:998 .; chmod 2770 .`
const look = `find . | sort | while read -r f; do stat -c '%n %f %u:%g %s %h' "$f"; done; cat link; readlink link`

test.each(resticVersions)(
  'volumes come back with owners, modes, links, and nothing else (%s)',
  async (version) => {
    const config = { ...s.config, resticImage: await ensureRestic(version) }
    const restic = s.open(await s.prepared(), { config })
    const [one, two] = [await volume(), await volume()]
    await inVolume(one, fill)
    await inVolume(two, 'echo other >file')
    const before = await inVolume(one, look)
    const volumes = [
      { volume: one, path: 'data' },
      { volume: two, path: 'uploads' },
    ]
    const stored = await restic.storeVolumes({ volumes, tags: ['backup=1'], signal })
    expect(stored.bytes).toBeGreaterThan(0)
    await inVolume(
      one,
      'rm link; echo changed >sub/deep/a; echo more >newer; mkdir .hidden; chmod 777 .',
    )
    await inVolume(two, 'rm file')
    await restic.readVolumes({ snapshot: stored.id, volumes: [volumes[0]!], signal })
    expect(await inVolume(one, look)).toBe(before)
    // the one that wasn't asked for stays as it is, and another volume can get what it had
    expect(await inVolume(two, 'ls -A')).toBe('')
    const third = await volume()
    await restic.readVolumes({
      snapshot: stored.id,
      volumes: [{ volume: third, path: 'uploads' }],
      signal,
    })
    expect(await inVolume(third, 'cat file')).toBe('other\n')
    const again = await restic.storeVolumes({ volumes, tags: ['backup=2'], signal })
    expect(again.addedBytes).toBeLessThan(20_000)
  },
)

test.each(resticVersions)(
  'copies are stored in place of files and what lies beside them, whatever their names (%s)',
  async (version) => {
    const config = { ...s.config, resticImage: await ensureRestic(version) }
    const restic = s.open(await s.prepared(), { config })
    const one = await volume()
    const odd = String.raw`[a] *\?, $HOME "{b}" c.db`
    const fill = `mkdir sub; cd sub; for end in '' -wal -shm -journal .old; do echo torn >'${odd}'$end; done
      echo other >'a, c.db'; chown 999:998 .; chmod 770 .`
    await inVolume(one, fill)
    const root = s.folder()
    const file = `/volumes/_data/sub/${odd}`
    mkdirSync(join(root, dirname(file)), { recursive: true })
    writeFileSync(join(root, file), 'whole\n')
    const tar = 'tar -c --no-unquote --owner=999 --group=998 --mode=640 -C'.split(' ')
    const { stdout } = Bun.spawnSync([...tar, root, `.${file}`])
    const volumes = [{ volume: one, path: '/data' }]
    const stored = await restic.storeVolumes({
      ...{ volumes, tags: ['backup=1'], signal },
      copies: { files: [file], send: (to) => pipeline([stdout], to, { end: false }) },
    })
    await restic.readVolumes({ snapshot: stored.id, volumes, signal })
    const look = `cd sub; stat -c '%a %u:%g %n' . *; cat *`
    expect((await inVolume(one, look)).trim().split('\n')).toEqual([
      '770 999:998 .',
      `640 999:998 ${odd}`,
      `644 0:0 ${odd}.old`,
      '644 0:0 a, c.db',
      ...['whole', 'torn', 'other'],
    ])
  },
)
