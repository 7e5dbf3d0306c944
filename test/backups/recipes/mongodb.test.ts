import { afterAll, expect, test } from 'bun:test'
import { connectDocker } from '../../../src/docker/index.ts'
import { differenceOf } from '../../../src/backups/recipes/index.ts'
import { buildTestImage } from '../../support/images.ts'
import { dumped, inspected, loaded, scene } from './scene.ts'

/**
 * MongoDB isn't in Debian. These programs stand in for its tools: they print what is documented, and how they
 * were called. What a real server does with it isn't tried here.
 */
const programs = {
  mongosh: `case "$*" in *secret*) exit 9 ;; esac
case "$3$4" in
*dropDatabase*) echo "dropped $DAVIT_DATABASE" >> /calls ;;
*listDatabases*) echo '{"version":"8.0.29"}'; echo '{"database":"app"}'; echo '{"database":"it'"'"'s odd"}'; echo '{"role":"admin.ada"}' ;;
*countDocuments*) echo "[\\"$DAVIT_DATABASE.orders\\",3]"; echo "[\\"$DAVIT_DATABASE.a \\\\\\"b\\\\\\"\\",1]" ;;
*) exit 8 ;;
esac`,
  mongodump: `case "$*" in *secret*) exit 9 ;; esac
grep -q '"password":"s\\\\"ecret' config.yaml || { echo "Authentication failed: (AuthenticationFailed)" >&2; exit 1; }
db=; for word in "$@"; do case $word in --db=*) db=\${word#--db=} ;; esac; done
head -c 100000 /dev/zero; echo "$*"
[ "$db" = admin ] && exit
[ -z "$FAILS" ] || { echo "Failed: error reading collection: connection reset" >&2; exit 1; }
{ echo "2026-11-26T10:00:00.000+0000 writing $db.orders to archive on stdout"
echo "2026-11-26T10:00:00.000+0000 done dumping $db.orders (3 documents)"
echo "2026-11-26T10:00:00.000+0000 done dumping $db.system.views (1 document)"
echo "2026-11-26T10:00:00.000+0000 done dumping \\\`$db.a \\"b\\"\\\` (1 document)"; } >&2`,
  mongorestore: `case "$*" in *secret*) exit 9 ;; esac
echo "restored $(wc -c) $*" >&2; exit $FAILS`,
}

const { deps, start } = scene()
const tag = `test-mongo-${Bun.randomUUIDv7().slice(-12)}`
const image = `${tag}/mongo:8`
await buildTestImage(connectDocker(), {
  tag: image,
  dockerfile: `FROM busybox\n${Object.keys(programs)
    .map((name) => `COPY ${name} /bin/${name}\nRUN chmod 755 /bin/${name}`)
    .join('\n')}\nCMD ["sleep","1000"]`,
  files: Object.fromEntries(
    Object.entries(programs).map(([name, text]) => [name, `#!/bin/sh\n${text}\n`]),
  ),
})
afterAll(() => connectDocker().removeImage(image, { force: true }))

const env = { MONGO_INITDB_ROOT_USERNAME: 'ada', MONGO_INITDB_ROOT_PASSWORD: 's"ecret' }

test('each database of MongoDB is an archive, counted by the tool’s own log, with no password on a command line', async () => {
  const target = await start(image, { env, ready: ['true'] })
  const kept = await dumped(deps, target)
  expect([...kept.files.keys()].toSorted()).toEqual([
    'db-roles.archive',
    'db/app.archive',
    "db/it's%20odd.archive",
  ])
  const archive = kept.files.get("db/it's%20odd.archive")!
  expect(archive.length).toBeGreaterThan(100_000)
  expect(archive.toString('latin1', 100_000)).toBe(
    "--host=127.0.0.1 --port=27017 --config=config.yaml --username=ada --authenticationDatabase=admin --db=it's odd --archive\n",
  )
  const [app] = kept.contents.databases
  expect(app!.tables).toEqual([
    { name: 'app.orders', rows: 3 },
    { name: 'app.a "b"', rows: 1 },
  ])
  expect(kept.contents).toMatchObject({ version: '8.0.29', roles: { names: ['admin.ada'] } })
  expect(differenceOf(kept.contents, await inspected(deps, target))).toBeNull()
  await loaded(deps, target, kept)
})

test('a dump or a load that the tool fails isn’t whole, and a wrong password is told', async () => {
  const target = await start(image, { env, ready: ['true'] })
  const with_ = (more: Record<string, string>) => ({
    ...target,
    source: { ...target.source, env: { ...target.source.env, ...more } },
  })
  const kept = await dumped(deps, target)
  expect(dumped(deps, with_({ FAILS: '1' }))).rejects.toMatchObject({ code: 'dump_away' })
  expect(loaded(deps, with_({ FAILS: '1' }), kept)).rejects.toMatchObject({ code: 'dump_failed' })
  const wrong = with_({ DAVIT_CONFIG: '{"password":"old"}' })
  expect(dumped(deps, wrong)).rejects.toMatchObject({ code: 'dump_login' })
})
