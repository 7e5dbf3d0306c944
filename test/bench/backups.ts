import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { shopOf } from '../backups/recipes/shop.ts'
import { backupsOf } from '../demo/backups.ts'
import type { Backup } from '../demo/backups.ts'
import { DavitClient } from '../demo/client.ts'
import { setupCodeIn, startDavit } from '../support/davit.ts'
import { ensureNewerServers } from '../support/images/newer-servers.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { byHand, run } from './backups-by-hand.ts'
import type { Scripts } from './backups-by-hand.ts'
import { residentMemory } from './process.ts'
import { inTurns } from './ratio.ts'
import type { Row } from './ratio.ts'

/** Orders of the shop. */
const rows = Number(process.env.BENCH_ROWS ?? 1_000_000)
const pairs = Number(process.env.BENCH_PAIRS ?? 3)

/** MiB. */
const memoryAim = 150

type Database = Scripts & {
  title: string
  /** The body of a request that makes it, and the template; by default an own Compose file. */
  path: string
  body: Record<string, unknown>
  fill: string
}

const psql =
  'PGPASSWORD="$POSTGRES_PASSWORD" PGUSER="$POSTGRES_USER" PGHOST=127.0.0.1 PGDATABASE=app'
const postgresql: Scripts & { fill: string } = {
  ready: `${psql} psql -c ''`,
  dump: `${psql} pg_dump -Fc -Z0`,
  load: `${psql} pg_restore -d app --clean --if-exists --no-owner`,
  fill: `${psql} psql -v ON_ERROR_STOP=1 -q <<'END'\n${shopOf(rows)}\nEND`,
}

const mysql = '-uroot -p"$MARIADB_ROOT_PASSWORD" -h127.0.0.1'
const redisCli = 'export REDISCLI_AUTH="$REDIS_PASSWORD"; redis-cli'

const databases: Database[] = [
  { title: 'PostgreSQL 15', path: 'postgresql', body: {}, ...postgresql },
  {
    title: 'PostgreSQL 18',
    path: 'compose',
    body: {
      compose: `services:
  db:
    image: davit-test-newer/postgres:18
    environment: { POSTGRES_USER: davit, POSTGRES_PASSWORD: of-the-bench, POSTGRES_DB: app }
    volumes: ["data:/var/lib/postgresql/data"]
volumes: { data: {} }`,
    },
    ...postgresql,
  },
  {
    title: 'MariaDB',
    path: 'mariadb',
    body: {},
    ready: `mariadb ${mysql} app -e ''`,
    dump: `mariadb-dump ${mysql} --single-transaction --quick app`,
    load: `mariadb ${mysql} app`,
    fill: `mariadb ${mysql} app -e "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, note CHAR(32), KEY (customer));
      INSERT INTO orders SELECT seq, seq % 500, MD5(seq) FROM seq_1_to_${rows}"`,
  },
  {
    title: 'Redis',
    path: 'redis',
    body: {},
    ready: `${redisCli} ping | grep -q PONG`,
    dump: `${redisCli} --rdb -`,
    // a server that starts with the file, as its documentation says
    load: `cat > /data/by-hand.rdb && redis-server --port 7000 --dir /data --dbfilename by-hand.rdb --save '' --daemonize yes &&
      until redis-cli -p 7000 ping | grep -q PONG; do sleep 0.05; done; redis-cli -p 7000 shutdown nosave`,
    fill: `${redisCli} eval "for n = 1, ${rows / 4} do redis.call('SET', 'key:' .. n, redis.sha1hex(n)) end" 0`,
  },
]

/** Each database backed up, proven and restored by Davit, against its own tool and restic by hand. */
export async function benchBackups(directory: string, executable: string): Promise<Row[]> {
  await ensureNewerServers()
  const resticImage = await ensureRestic('0.18')
  const fresh = join(directory, 'backups')
  const target = join(fresh, 'target')
  mkdirSync(target, { recursive: true })
  const dataDir = join(fresh, 'data')
  const env = { DAVIT_DATA_DIR: dataDir, DAVIT_RESTIC_IMAGE: resticImage }
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(3_000_000) })
  const account = { email: 'bench@example.com', password: Bun.randomUUIDv7() }
  await client.enter('/auth/register', { ...account, setupCode: setupCodeIn(dataDir) })
  const { id: targetId } = await client.post<{ id: string }>('/settings/targets', {
    ...{ kind: 'directory', name: 'bench', path: target },
  })
  try {
    const found: Row[] = []
    for (const database of databases)
      found.push(
        ...(await benchDatabase(
          { client, pid: davit.pid, targetId, resticImage, fresh },
          database,
        )),
      )
    return found
  } finally {
    await client.removeAll()
    await davit.stop()
  }
}

type Scene = {
  client: DavitClient
  pid: number
  targetId: string
  resticImage: string
  fresh: string
}

async function benchDatabase(
  { client, pid, targetId, resticImage, fresh }: Scene,
  { title, path, body, fill, ...scripts }: Database,
): Promise<Row[]> {
  const { id } = await client.post<{ id: string }>(`/services/${path}`, { name: 'bench', ...body })
  const service = await untilSo(
    () => client.get<Service>(`/services/${id}`),
    ({ status }) => status === 'running',
  )
  const [{ id: container }] = service.containers as [{ id: string }]
  await run([
    'docker',
    'exec',
    container,
    'sh',
    '-c',
    `until ${scripts.ready}; do sleep 0.1; done; ${fill}`,
  ])
  const hand = await byHand({ ...scripts, container, resticImage, folder: join(fresh, id) })
  const backups = backupsOf(client, id, targetId)
  let last: Backup
  let peak = 0
  const look = setInterval(() => (peak = Math.max(peak, residentMemory(pid))), 50)
  const ofDavit = {
    backup: async () => void (last = await backups.backUp()),
    proof: () => backups.prove(last),
    restore: () => backups.restore(last, { backupFirst: false }),
  }
  const found: Row[] = []
  try {
    for (const [step, what] of Object.entries(steps) as [keyof typeof steps, string][]) {
      const { davit, floor } = await inTurns(pairs, {
        floor: () => seconds(hand[step]),
        davit: () => seconds(ofDavit[step]),
      })
      found.push({
        what: `${title}, ${(last!.bytes / 1e6).toFixed(0)} MB, ${what}`,
        ...{ against: 'its tool and restic by hand', unit: 's', aim: '≤ 1.2', davit, floor },
      })
    }
  } finally {
    clearInterval(look)
    await client.delete(`/services/${id}?volumes=true`)
  }
  return [
    ...found,
    {
      what: 'resident memory meanwhile, at most',
      ...{ against: `${memoryAim} MiB`, unit: 'MiB', aim: '≤ 1' },
      ...{ davit: [peak], floor: [memoryAim] },
    },
  ]
}

const steps = { backup: 'backed up', proof: 'proven', restore: 'restored' }

type Service = { status: string; containers: { id: string }[] }
async function seconds(work: () => Promise<unknown>) {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

async function untilSo<T>(look: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look()
    if (isSo(found)) return found
    await Bun.sleep(50)
  }
}
