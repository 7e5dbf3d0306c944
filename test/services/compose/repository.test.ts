import { describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/platform/errors.ts'
import type { StackPlan, StackQuestion } from '../../../src/services/compose/repository.ts'
import { planStack } from '../../../src/services/compose/repository.ts'

type Given = Partial<Omit<StackQuestion, 'texts'>> & { texts?: Record<string, string | null> }

/** Answers what is asked for with `null`, as for a file that isn’t in the repository. */
function planOf(text: string, { file = 'compose.yaml', texts = {}, ...given }: Given = {}) {
  const known: Record<string, string | null> = { [file]: text, ...texts }
  const question = { file, texts: known, values: {}, service: null, limits: null, ...given }
  for (;;) {
    const answer = planStack(question)
    if ('plan' in answer) return answer.plan
    for (const path of answer.needs) known[path] = null
  }
}

const services = (lines: string) => `services:\n${lines.replace(/^(?=.)/gm, '  ')}`
const serviceOf = (plan: StackPlan, name: string) => plan.services.get(name)!

/** The place and the code of the refusal. */
function refusalOf(text: string, given?: Given) {
  try {
    planOf(text, given)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const [, file, line, column, key] =
      /^(\S+), line (\d+), column (\d+): (\S+)/.exec(error.message) ?? []
    return { file, at: `${line}:${column}`, key }
  }
  return null
}

describe('a service is built', () => {
  const builds: [given: string, file: string, build: object][] = [
    ['build: .', 'compose.yaml', { context: '.', dockerfile: 'Dockerfile' }],
    ['build: ./web/', 'compose.yaml', { context: 'web', dockerfile: 'web/Dockerfile' }],
    ['build: .', 'deploy/compose.yaml', { context: 'deploy', dockerfile: 'deploy/Dockerfile' }],
    ['build: ..', 'deploy/compose.yaml', { context: '.', dockerfile: 'Dockerfile' }],
    [
      'build: {context: web, dockerfile: ../docker/web.Dockerfile, target: prod}',
      'compose.yaml',
      { context: 'web', dockerfile: 'docker/web.Dockerfile', target: 'prod' },
    ],
    [
      'build: {args: [A=1, B, C=$D]}',
      'compose.yaml',
      { context: '.', dockerfile: 'Dockerfile', args: { A: '1', B: 'two', C: 'four' } },
    ],
  ]
  test.each(builds)('%s in %s', (line, file, build) => {
    const plan = planOf(services(`web:\n  ${line}`), { file, values: { B: 'two', D: 'four' } })
    expect(serviceOf(plan, 'web').build).toEqual({ args: {}, target: null, ...build } as never)
  })

  test('and its image is not pulled', () => {
    const plan = planOf(services('web:\n  build: .\n  image: ghcr.io/me/web'))
    expect(serviceOf(plan, 'web')).toMatchObject({ image: '', build: { context: '.' } })
  })
})

describe('the service with the addresses is', () => {
  const port = (name: string, ports: string) => `${name}:\n  image: ${name}\n  ports: [${ports}]`
  const chosen: [why: string, text: string, web: string | null, port: number | null][] = [
    ['the only one', 'a:\n  image: a', 'a', null],
    ['the one that publishes a port', `${port('a', '"8080:80"')}\nb:\n  image: b`, 'a', 80],
    ['the one that exposes a port', 'a:\n  image: a\nb:\n  image: b\n  expose: [3000]', 'b', 3000],
    ['the first port of a range', port('a', '"3000-3002:4000-4002"'), 'a', 4000],
    ['not one that only publishes UDP', `${port('a', '"53:53/udp"')}\n${port('b', '80')}`, 'b', 80],
    [
      'the one that is built, of those with a port',
      `${port('db', '"5432:5432"')}\napp1:\n  build: .\n  ports: ["80:8000"]`,
      'app1',
      8000,
    ],
    [
      'the one with the usual name',
      `${port('x', '81')}\n${port('frontend', '80')}`,
      'frontend',
      80,
    ],
    ['unknown when several could be it', `${port('x', '81')}\n${port('y', '80')}`, null, null],
    [
      'not one that runs once',
      'a:\n  image: a\n  depends_on: {b: {condition: service_completed_successfully}}\nb:\n  image: b',
      'a',
      null,
    ],
  ]
  test.each(chosen)('%s', (_, text, web, port) => {
    expect(planOf(services(text))).toMatchObject({ web, port })
  })

  test('the one that the user chose', () => {
    const text = services(`${port('x', '81')}\n${port('y', '80')}`)
    expect(planOf(text, { service: 'x' })).toMatchObject({ web: 'x', port: 81 })
    expect(planOf(text).choices).toEqual(['x', 'y'])
  })
})

describe('a service extends', () => {
  test('one of another file, whose paths are relative to that file', () => {
    const plan = planOf(
      services(`
web:
  extends: {file: common/base.yaml, service: app}
  environment: {B: own, C: own}
  volumes: [new:/data]
  command: [serve]`) + '\nvolumes: {new: {}, old: {}}',
      {
        texts: {
          'common/base.yaml': services(`
app:
  build: ./app
  environment: [A=base, B=base]
  env_file: app.env
  ports: ["8080:80"]
  volumes: ["old:/data", "./conf:/etc/conf"]
  command: [wait]
  healthcheck: {test: [CMD, a], retries: 5}`),
          'common/app.env': 'D=file\n',
          'common/conf': null,
          'common/conf/a.conf': 'text',
        },
      },
    )
    const web = serviceOf(plan, 'web')
    expect(web.build!.context).toBe('common/app')
    expect(Object.fromEntries(web.environment)).toEqual({
      A: 'base',
      B: 'own',
      C: 'own',
      D: 'file',
    })
    expect(web.command).toEqual(['serve'])
    expect(web.volumes.map(({ volume }) => volume)).toEqual(['new'])
    expect(web.files).toMatchObject([{ path: '/etc/conf/a.conf', content: 'text' }])
    expect(web.ports).toMatchObject([{ container: 80 }])
  })

  test('one of its own file, through another one', () => {
    const plan = planOf(
      services(`
base: {image: base, labels: {a: "1"}, depends_on: [other]}
middle: {extends: base, labels: [b=2], depends_on: {web: {condition: service_started}}}
other: {image: o}
web: {image: w}
last: {extends: {service: middle}, image: last, cap_add: [CHOWN]}`),
      { service: 'web' },
    )
    const last = serviceOf(plan, 'last')
    expect(last.image).toBe('last')
    expect(Object.fromEntries(last.labels)).toEqual({ a: '1', b: '2' })
    expect(last.dependsOn.map(({ service }) => service)).toEqual(['other', 'web'])
  })

  test('one whose env_file and tmpfs count as well, where each is a text or a list', () => {
    const plan = planOf(
      services(`
base: {image: a, env_file: base.env, tmpfs: /base}
web: {extends: base, env_file: own.env, tmpfs: /own}
last: {extends: base, env_file: [{path: own.env}], tmpfs: [/own]}`),
      { texts: { 'base.env': 'A=base\nB=base', 'own.env': 'B=own' }, service: 'web' },
    )
    for (const { environment, tmpfs } of [serviceOf(plan, 'web'), serviceOf(plan, 'last')]) {
      expect(Object.fromEntries(environment)).toEqual({ A: 'base', B: 'own' })
      expect(tmpfs.map(({ path }) => path)).toEqual(['/base', '/own'])
    }
  })
})

test('profiles, replicas and files are those of the variables and the repository', () => {
  const text =
    services(`
web: {image: w, env_file: [{path: a.env}, {path: no.env, required: false}], deploy: {replicas: 3}}
mail: {image: m, profiles: [dev]}
jobs: {image: j, profiles: [jobs], configs: [c], secrets: [s]}
none: {image: n, scale: 0}`) + '\nconfigs: {c: {file: ./c.txt}}\nsecrets: {s: {file: s.txt}}'
  const texts = { 'a.env': 'A=$X', 'c.txt': 'config', 's.txt': 'secret', '.env': 'X=1\nY=2' }
  const plan = planOf(text, { texts, values: { COMPOSE_PROFILES: 'jobs,other' } })
  expect([...plan.services.keys()]).toEqual(['web', 'jobs'])
  expect(serviceOf(plan, 'web')).toMatchObject({ replicas: 3, environment: new Map([['A', '1']]) })
  expect(serviceOf(plan, 'jobs').files).toMatchObject([
    { path: '/c', content: 'config' },
    { path: '/run/secrets/s', content: 'secret' },
  ])
})

test.each([
  ['a directory', '"./up:/up"', ['services.web.volumes[0]']],
  ['a read-only directory', '"./up:/up:ro"', []],
  ['a file', '"./up/a:/up/a"', []],
  ['a volume', '"data:/up"', []],
])('a note says that what is written to %s is lost, or none does', (_, mount, noted) => {
  const text = `${services(`web: {image: w, volumes: [${mount}]}`)}\nvolumes: {data: {}}`
  const { notes } = planOf(text, { texts: { up: null, 'up/a': '1' } })
  expect(notes.map((note) => note.split(' ')[0])).toEqual(noted)
})

test('a required variable without a value is refused, but a look at the file names it', () => {
  const text = services('web:\n  image: w:${TAG:?which}')
  expect(refusalOf(text)).toMatchObject({ at: '3:5', key: 'services.web.image' })
  expect(planOf(text, { isSample: true }).unset).toEqual(['TAG'])
  expect(planOf(text, { values: { TAG: '2' } }).unset).toEqual([])
})

const many = (count: number, lines: string) =>
  Array.from({ length: count }, (_, at) => `s${at}: ${lines}`).join('\n')

const small = { limits: { memoryMb: 512, cpus: 1 } }

const refused: [what: string, text: string, key: string, more?: Given][] = [
  ['privileges', 'web:\n  image: w\n  privileged: true', 'privileged'],
  ['the socket of Docker', 'web:\n  image: w\n  volumes: ["/var/run/docker.sock:/s"]', 'volumes'],
  ['a path of the server', 'web:\n  image: w\n  volumes: ["/etc:/host:ro"]', 'volumes'],
  ['its network', 'web:\n  image: w\n  network_mode: host', 'network_mode'],
  ['a device', 'web:\n  image: w\n  devices: ["/dev/kvm:/dev/kvm"]', 'devices'],
  ['a capability', 'web:\n  image: w\n  cap_add: [SYS_ADMIN]', 'cap_add'],
  ['a path that isn’t there', 'web:\n  image: w\n  volumes: ["./data:/data"]', 'volumes[0]'],
  ['a path outside', 'web:\n  image: w\n  volumes: ["../data:/data"]', 'volumes[0]'],
  ['an env_file outside', 'web:\n  image: w\n  env_file: ../../.env', 'env_file'],
  ['an env_file of the server', 'web:\n  image: w\n  env_file: /etc/passwd', 'env_file'],
  ['an env_file that isn’t there', 'web:\n  image: w\n  env_file: my.env', 'env_file'],
  ['a context outside', 'web:\n  build: ../app', 'build'],
  ['a context elsewhere', 'web:\n  build: https://github.com/a/b.git', 'build'],
  ['a Dockerfile outside', 'web:\n  build:\n    dockerfile: ../../D', 'build.dockerfile'],
  ['secrets of a build', 'web:\n  build:\n    secrets: [a]', 'build.secrets'],
  ['an unknown key', 'web:\n  image: w\n  cgroup: host', 'cgroup'],
  ['a reserved name', 'run:\n  image: w', ''],
  ['no image', 'web:\n  command: a', 'image'],
  ['a service that extends itself', 'web:\n  extends: web', 'extends'],
  ['one that extends nothing', 'web:\n  extends: other', 'extends'],
  [
    'a file to extend outside',
    'web:\n  extends:\n    file: ../a.yaml\n    service: a',
    'extends.file',
  ],
  ['one that isn’t there', 'web:\n  extends:\n    file: a.yaml\n    service: a', 'extends.file'],
  [
    'files mounted read-only',
    'web:\n  image: w\n  read_only: true\n  volumes: ["./a:/a"]',
    'read_only',
    { texts: { a: '1' } },
  ],
  ['too many replicas', 'web:\n  image: w\n  scale: 21', 'scale'],
  [
    'more memory than the environment has',
    'web:\n  image: w\n  mem_limit: 513m',
    'mem_limit',
    small,
  ],
  [
    'more processors in deploy',
    'web:\n  image: w\n  cpus: 1\n  deploy: {resources: {limits: {cpus: "2"}}}',
    'deploy.resources.limits.cpus',
    small,
  ],
]
for (const [what, text, key, given] of refused)
  test(`refuses ${what} with its line`, () => {
    const found = refusalOf(services(text), given)
    expect(found).toMatchObject({ file: 'compose.yaml' })
    const name = text.slice(0, text.indexOf(':'))
    expect(found!.key).toBe([`services.${name}`, key].filter(Boolean).join('.'))
  })

const refusedTogether: [what: string, text: string, given?: Given][] = [
  ['200 services', services(many(200, '{image: a}'))],
  ['21 services', services(many(21, '{image: a}'))],
  ['31 containers', services(many(2, '{image: a, scale: 16}'))],
  ['a cycle of waits', services('a: {image: a, depends_on: [b]}\nb: {image: b, depends_on: [a]}')],
  [
    'a cycle of files',
    services('a: {extends: {file: b.yaml, service: b}}'),
    { texts: { 'b.yaml': services('b: {extends: {file: compose.yaml, service: a}}') } },
  ],
  ['a name that another one needs', services('web: {image: a}\nb: {image: b, ports: [80]}')],
  ['a chosen service that is not there', services('a: {image: a}'), { service: 'b' }],
  ['an external network', `${services('a: {image: a}')}\nnetworks: {n: {external: true}}`],
  ['an external volume', `${services('a: {image: a}')}\nvolumes: {v: {external: true}}`],
  [
    'aliases that grow',
    `x: &a [1,2,3,4,5,6,7,8,9]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]`,
  ],
  [
    'what extends makes of one service',
    services(
      `base: {image: a, labels: {${Array.from({ length: 900 }, (_, at) => `l${at}: "1"`).join(', ')}}}\n${many(49, '{extends: base}')}`,
    ),
  ],
  ['an empty file', ''],
]
for (const [what, text, given] of refusedTogether)
  test(`refuses ${what}`, () => {
    expect(() => planOf(text, given)).toThrow(AppError)
  })
