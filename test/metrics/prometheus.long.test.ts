import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { aService, anApp } from '../map/owned.ts'
import { aFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { listening } from '../support/listening.ts'
import { run } from '../support/machine/command.ts'
import { unpackPackage } from '../support/machine/packages.ts'
import { until } from '../support/until.ts'
import { aLine, counted } from '../traffic/access.ts'
import { scraped } from './scene.ts'

const document = join(import.meta.dir, '../../assets/docs/metrics.md')

/** Debian's Prometheus, unpacked, and what the document says to configure. */
async function prometheus() {
  const folder = aFolder()
  await unpackPackage('prometheus', folder)
  const text = await Bun.file(document).text()
  const [scrape, rules] = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml!)
  const bin = (name: string) => join(folder, 'usr/bin', name)
  const file = async (name: string, content: string) => {
    await Bun.write(join(folder, name), content)
    return join(folder, name)
  }
  const check = async (...args: string[]) => {
    const { exitCode, output } = await run([bin('promtool'), ...args])
    return exitCode === 0 ? 'fine' : output
  }
  return { folder, bin, file, check, scrape: scrape!, rules: rules! }
}

/** An app with requests, deployments, containers, a certificate, a service, and names that need escaping. */
async function busyApp() {
  const scene = await counted()
  const { t, ada, has, log, collect } = scene
  await anApp(t, ada, { name: 'shop "1" \\ ü', hosts: ['shop.example.com'] })
  aService(t, ada, { name: 'db' })
  has('app.test')
  log.write(aLine('app.test'), aLine('app.test', { status: 503, duration: 0.4 }))
  await collect()
  return scene
}

test('promtool has no objection to the metrics, the configuration and the rules of the document', async () => {
  const { bin, file, check, scrape, rules } = await prometheus()
  const { t } = await busyApp()
  const { text } = await scraped(t, t.logInAsAdmin(), { accept: 'text/plain' })
  const lint = Bun.spawn([bin('promtool'), 'check', 'metrics'], {
    ...{ stdin: new Blob([text]), stdout: 'pipe', stderr: 'pipe' },
  })
  const said = (await new Response(lint.stdout).text()) + (await new Response(lint.stderr).text())
  expect({ said, exitCode: await lint.exited }).toEqual({ said: '', exitCode: 0 })
  const token = await file('token', 'dvt_x')
  const config = await file(
    'prometheus.yml',
    scrape.replace(/credentials_file: .*/, `credentials_file: ${token}`),
  )
  expect(await check('check', 'config', config)).toBe('fine')
  const rulesFile = await file('rules.yml', rules)
  expect(await check('check', 'rules', rulesFile)).toBe('fine')
  expect(await check('test', 'rules', await file('test.yml', storyOf(rulesFile)))).toBe('fine')
}, 300_000)

test('a real Prometheus scrapes them as OpenMetrics, and its queries find the app', async () => {
  const { folder, bin, file } = await prometheus()
  const { t, ada } = await busyApp()
  const server = listening(t)
  const { token } = await scraped(t, ada)
  const config = await file(
    'prometheus.yml',
    `scrape_configs:
  - job_name: davit
    scrape_interval: 1s
    authorization: { credentials_file: ${await file('token', token)} }
    static_configs: [{ targets: ['127.0.0.1:${server.port}'] }]
`,
  )
  const port = freePort()
  const child = Bun.spawn(
    [
      bin('prometheus'),
      ...[`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
      ...[`--web.console.libraries=${folder}`, `--web.console.templates=${folder}`],
    ],
    { stdout: 'ignore', stderr: 'ignore', env: {} },
  )
  onTestFinished(async () => {
    child.kill()
    await child.exited
  })
  const query = async (expression: string) => {
    const address = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`
    const answer = await fetch(address)
      .then((response) => response.json())
      .catch(() => null) // it isn't ready yet
    return ((answer as any)?.data?.result ?? []) as {
      metric: Record<string, string>
      value: [number, string]
    }[]
  }
  await until(async () => (await query('up == 1')).length === 1)
  const [state] = await query('davit_state{project=~"shop.*"}')
  expect(state).toMatchObject({
    metric: { project: 'shop "1" \\ ü', state: 'running' },
    value: [expect.anything(), '1'],
  })
  const [slow] = await query('histogram_quantile(0.9, davit_http_request_duration_seconds_bucket)')
  expect(Number(slow!.value[1])).toBeWithin(0.25, 0.5)
  const failed = async () => (await query('davit_http_requests_total{status="5xx"}'))[0]?.value[1]
  expect(await failed()).toBe('1')
  const targets = (await (await fetch(`http://127.0.0.1:${port}/api/v1/targets`)).json()) as any
  expect(targets.data.activeTargets[0].lastError).toBe('')
  const types = (await (await fetch(`http://127.0.0.1:${port}/api/v1/metadata`)).json()) as any
  expect(types.data.davit_http_requests).toMatchObject([{ type: 'counter' }])
  expect(types.data.davit_build).toMatchObject([{ type: 'info' }])
}, 300_000)

const series = [
  ['up{job="davit"}', '1 1 1 1 1 1 0x20'],
  ['davit_state{project="shop",environment="main",state="crash_looping"}', '1x30'],
  ['davit_http_requests_total{project="shop",environment="main",status="5xx"}', '0+6x30'],
  ['davit_http_requests_total{project="shop",environment="main",status="2xx"}', '0+60x30'],
  ['davit_http_request_duration_seconds_bucket{project="a",environment="b",le="1.0"}', '0+1x30'],
  ['davit_http_request_duration_seconds_bucket{project="a",environment="b",le="5.0"}', '0+60x30'],
  ['davit_http_request_duration_seconds_bucket{project="a",environment="b",le="+Inf"}', '0+60x30'],
  ['davit_container_memory_bytes{project="a",environment="b",process="web"}', '95x30'],
  ['davit_container_memory_limit_bytes{project="a",environment="b",process="web"}', '100x30'],
  ['davit_deployments_total{project="a",environment="b",result="failed"}', '0x15 1x15'],
  ['davit_certificate_expiry_timestamp_seconds{host="shop.test"}', '90000x90'],
  ['davit_backup_planned{service="db"}', '1x90'],
  ['davit_backup_planned{service="mail"}', '1x90'],
  ['davit_backup_last_success_timestamp_seconds{service="mail"}', '0x90'],
  ['davit_drain_failing{project="a",environment="b",drain="c"}', '1x30'],
  ['davit_disk_free_bytes', '5x30'],
  ['davit_disk_size_bytes', '100x30'],
]

/** Each alert with the minute in which it must fire, its labels and what it says. */
const alerts: [string, string, Record<string, string>, string][] = [
  [
    'DavitDown',
    '12m',
    { job: 'davit' },
    'Davit doesn’t respond. The apps keep running without it.',
  ],
  [
    ...(['AppUnhealthy', '12m'] as const),
    { project: 'shop', environment: 'main', state: 'crash_looping' },
    'shop main is crash_looping.',
  ],
  [
    ...(['AppErrors', '20m'] as const),
    { project: 'shop', environment: 'main' },
    'More than 5 % of the requests to shop main fail.',
  ],
  ['AppSlow', '20m', { project: 'a', environment: 'b' }, 'Requests to a b take long.'],
  [
    ...(['AppNearMemoryLimit', '20m'] as const),
    { project: 'a', environment: 'b', process: 'web' },
    'The process web of a b has little memory left.',
  ],
  [
    ...(['DeploymentFailed', '20m'] as const),
    { project: 'a', environment: 'b', result: 'failed' },
    'A deployment of a b failed.',
  ],
  [
    ...(['CertificateEnds', '80m'] as const),
    { host: 'shop.test' },
    'The certificate of shop.test ends soon, and wasn’t renewed.',
  ],
  [...(['BackupOverdue', '80m'] as const), { service: 'db' }, 'The backup of db is overdue.'],
  [
    ...(['DrainFailing', '20m'] as const),
    { project: 'a', environment: 'b', drain: 'c' },
    'The log drain c of a b can’t send.',
  ],
  [
    ...(['DiskAlmostFull', '20m'] as const),
    {},
    'The disk of the server is almost full. Builds can’t start then.',
  ],
]

/** For `promtool test rules`. */
const storyOf = (rules: string) =>
  JSON.stringify({
    rule_files: [rules],
    tests: [
      {
        interval: '1m',
        input_series: series.map(([name, values]) => ({ series: name, values })),
        alert_rule_test: alerts.map(([alertname, eval_time, exp_labels, summary]) => ({
          ...{ alertname, eval_time },
          exp_alerts: [{ exp_labels, exp_annotations: { summary } }],
        })),
      },
    ],
  })
