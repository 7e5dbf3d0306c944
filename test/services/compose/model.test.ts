import { describe, expect, test } from 'bun:test'
import { refusalOf } from './refusal.ts'
import { fileWith, stackFrom, web } from './stack.ts'

describe('the environment', () => {
  test('has one form, and takes the values of the file’s variables by name', () => {
    const lookup = (name: string) => (name === 'GIVEN' ? 'v' : undefined)
    const list = web('environment: [A=b=c, GIVEN, GONE, "E="]', { lookup }).environment
    expect([...list]).toEqual([
      ['A', 'b=c'],
      ['GIVEN', 'v'],
      ['E', ''],
    ])
    const map = web('environment: {N: 5, T: true, GIVEN: , F: 1.5}', { lookup }).environment
    expect([...map]).toEqual([
      ['N', '5'],
      ['T', 'true'],
      ['GIVEN', 'v'],
      ['F', '1.5'],
    ])
  })

  test('D8: keeps line breaks and the names that JavaScript objects have of their own', () => {
    const { environment } = web('environment: {__proto__: "a\\nb", constructor: c}')
    expect([...environment]).toEqual([
      ['__proto__', 'a\nb'],
      ['constructor', 'c'],
    ])
  })

  test('comes from the files that are given, under what the service says itself', () => {
    const files = new Map([['.env', '# own\nA=1\nB="two words"\n']])
    const lines = 'env_file: [.env, {path: ./absent, required: false}]\nenvironment: {A: own}'
    expect([...web(lines, { files }).environment]).toEqual([
      ['A', 'own'],
      ['B', 'two words'],
    ])
    expect(refusalOf(() => web('env_file: .env'))).toContain('needs the file ".env"')
  })

  test('its files are read by Compose’s rules, and raw where they say so', () => {
    const files = new Map([['.env', 'A=1\nB=${A}$GIVEN\nC= # empty\nGIVEN\n']])
    const lookup = (name: string) => (name === 'GIVEN' ? '$v' : undefined)
    const read = (lines: string, given = {}) => [
      ...web(lines, { files, lookup, ...given }).environment,
    ]
    const pairs = [
      ['A', '1'],
      ['B', '1$v'],
      ['C', ''],
      ['GIVEN', '$v'],
    ] as [string, string][]
    expect(read('env_file: .env')).toEqual(pairs)
    expect(read('env_file: [{path: .env, format: raw}]')).toEqual([
      ['A', '1'],
      ['B', '${A}$GIVEN'],
      ['C', ' # empty'],
      ['GIVEN', '$v'],
    ])
    // its references were read with the file that holds it
    expect(read('env_file: ./.env', { expanded: new Set(['.env']) })[1]).toEqual([
      'B',
      '${A}$GIVEN',
    ])
    for (const wrong of ['format: json', 'required: maybe', 'encoding: utf8'])
      expect(refusalOf(() => web(`env_file: [{path: .env, ${wrong}}]`, { files }))).toContain(
        `services.web.env_file[0].${wrong.split(':')[0]}`,
      )
  })

  test.each(['["=x"]', '{"A=B": c}', '{"": c}', '{"a b": c}', '{A: [1]}', '{A: {b: c}}'])(
    'D8: %s is refused',
    (environment) => {
      expect(refusalOf(() => web(`environment: ${environment}`))).toContain('environment')
    },
  )

  test('D8: a value of 128 KB is refused, as is one with a NUL', () => {
    const big = web.bind(null, 'environment: [BIG]', { lookup: () => 'x'.repeat(128 * 1024) })
    expect(refusalOf(big)).toContain('32 KiB')
    const nul = web.bind(null, 'environment: [NUL]', { lookup: () => 'a\0b' })
    expect(refusalOf(nul)).toContain('NUL')
  })
})

describe('the other keys', () => {
  test('have one form', () => {
    const lines = `
command: sh -c "echo 'a b' $HOME" x\\ y ''
entrypoint: ["/bin/tini", --]
expose: ["80", 443/tcp]
container_name: site
hostname: web.local
user: "1000:1000"
working_dir: /srv
labels: ["a=b", c]
platform: linux/arm64
cap_add: [CAP_NET_RAW]
cap_drop: [all]
ulimits: {nproc: 65535, nofile: {soft: 1024, hard: 2048}}
shm_size: 1.5gb
extra_hosts: ["db:10.0.0.5", "v6=::1"]
stop_signal: SIGINT
stop_grace_period: 1m30s
sysctls: {net.core.somaxconn: 1024}
read_only: true
init: false
mem_limit: 512m
deploy: {resources: {limits: {cpus: "0.5", memory: 1g, pids: 99}, reservations: {memory: 64m}}}
restart: on-failure:5
logging: {driver: local, options: {max-size: 20m, max-file: "2"}}
networks: {back: {aliases: [www]}}`
    expect(web(lines, { top: 'networks: {back: }' })).toMatchObject({
      command: ['sh', '-c', "echo 'a b' $HOME", 'x y', ''],
      entrypoint: ['/bin/tini', '--'],
      expose: [80, 443],
      aliases: ['site', 'www'],
      hostname: 'web.local',
      user: '1000:1000',
      workingDir: '/srv',
      labels: new Map([
        ['a', 'b'],
        ['c', ''],
      ]),
      platform: 'linux/arm64',
      capAdd: ['NET_RAW'],
      capDrop: ['ALL'],
      ulimits: [
        { name: 'nproc', soft: 65535, hard: 65535 },
        { name: 'nofile', soft: 1024, hard: 2048 },
      ],
      shmBytes: 1.5 * 2 ** 30,
      extraHosts: ['db:10.0.0.5', 'v6:::1'],
      stopSignal: 'SIGINT',
      stopTimeout: 90,
      sysctls: new Map([['net.core.somaxconn', '1024']]),
      readOnly: true,
      init: false,
      memoryBytes: 2 ** 30,
      reservedBytes: 64 * 2 ** 20,
      cpus: 0.5,
      pids: 99,
      restart: { name: 'on-failure', maximumRetries: 5 },
      logs: { maxSize: '20480k', maxFiles: 2 },
    })
  })

  test('limits may stand beside the image, and those of deploy count over them', () => {
    const beside = web('cpus: 0.25\npids_limit: 50\nmem_limit: 64m')
    expect(beside).toMatchObject({ cpus: 0.25, pids: 50, memoryBytes: 64 * 2 ** 20 })
    const both = web('cpus: 2\npids_limit: 9\ndeploy: {resources: {limits: {cpus: "1", pids: 8}}}')
    expect(both).toMatchObject({ cpus: 1, pids: 8 })
  })

  test('a health check is read in each of its forms', () => {
    const health = (text: string) => web(`healthcheck: ${text}`).health
    expect(
      health('{test: curl -f x, interval: 1m, timeout: 500ms, start_period: 2s, retries: 3}'),
    ).toEqual({
      disabled: false,
      test: ['CMD-SHELL', 'curl -f x'],
      interval: 60_000,
      timeout: 500,
      startPeriod: 2000,
      retries: 3,
    })
    expect(health('{test: [CMD, a, b]}')).toMatchObject({ test: ['CMD', 'a', 'b'] })
    // each look is a process of the engine's, whose time nobody's limits count
    expect(health('{interval: 1ms}')).toMatchObject({ interval: 1000 })
    expect(health('{test: [CMD-SHELL, a b]}')).toMatchObject({ test: ['CMD-SHELL', 'a b'] })
    expect(health('{interval: 5s}')).toMatchObject({ test: null, interval: 5000 })
    expect(health('{test: [NONE]}')).toEqual({ disabled: true })
    expect(health('{disable: true}')).toEqual({ disabled: true })
    expect(web('').health).toBeNull()
  })

  test('depends_on is read in both forms', () => {
    const text = (dependsOn: string) =>
      `services:\n  web: {image: a, depends_on: ${dependsOn}}\n  db: {image: b}\n`
    const of = (dependsOn: string) => stackFrom(text(dependsOn)).services.get('web')!.dependsOn
    const started = { service: 'db', condition: 'service_started', restart: false, required: true }
    expect(of('[db]')).toEqual([started] as never)
    expect(of('{db: {condition: service_healthy, restart: true}}')).toEqual([
      { service: 'db', condition: 'service_healthy', restart: true, required: true },
    ])
    expect(of('{gone: {condition: service_started, required: false}}')).toHaveLength(1)
    expect(refusalOf(() => of('[gone]'))).toContain('uses gone, which isn’t a service')
    expect(refusalOf(() => of('{db: {condition: ready}}'))).toContain('service_healthy')
  })

  test('what a service does without is ignored, and noted', () => {
    const lines = `
pull_policy: always
tty: true
stdin_open: true
dns: [1.1.1.1]
security_opt: ["label:disable"]
logging: {driver: none}
deploy: {mode: replicated, replicas: 1, placement: {constraints: []}, restart_policy: {condition: none}}`
    const { services, notes, dangers } = stackFrom(fileWith(lines))
    expect(services.get('web')!.restart).toEqual({ name: 'no' })
    expect(dangers).toEqual([])
    expect(notes.map((note) => note.split(' is ignored')[0]!).toSorted()).toEqual([
      'services.web.deploy.placement',
      'services.web.dns',
      'services.web.logging',
      'services.web.pull_policy',
      'services.web.security_opt[0]',
      'services.web.stdin_open',
      'services.web.tty',
    ])
  })

  test('what can’t be as the file says is as near as it gets, and noted', () => {
    const lines = `build: .
deploy: {replicas: 3}
logging: {options: {max-size: 1g, max-file: 99}}`
    const { services, notes } = stackFrom(fileWith(lines))
    expect(services.get('web')).toMatchObject({
      image: 'nginx:1.27',
      logs: { maxSize: '102400k', maxFiles: 10 },
    })
    expect(notes.toSorted()).toEqual([
      'services.web.build is ignored. Davit uses its image.',
      'services.web.deploy.replicas is treated as 1. Davit runs one container of it.',
      'services.web.logging.options.max-file is limited to 10, the maximum.',
      'services.web.logging.options.max-size is limited to 100m, the maximum.',
    ])
    const scaled = stackFrom(fileWith('scale: 2\ndeploy: {replicas: 1}')).notes
    expect(scaled).toEqual([])
    expect(stackFrom(fileWith('scale: 2')).notes).toHaveLength(1)
  })

  test('a service with a profile, or of which there is to be none, does not run', () => {
    const text = `services:
  web: {image: a, depends_on: [extra, none], deploy: {restart_policy: {condition: on-failure, max_attempts: 3}}}
  extra: {image: b, profiles: [debug]}
  none: {image: c, deploy: {replicas: 0}}
  old: {image: d, scale: 0}
`
    const { services, notes } = stackFrom(text)
    expect([...services.keys()]).toEqual(['web'])
    expect(services.get('web')).toMatchObject({
      dependsOn: [],
      restart: { name: 'on-failure', maximumRetries: 3 },
    })
    expect(notes).toHaveLength(3)
    expect(notes[0]).toStartWith('services.extra isn’t run')
  })

  test('secrets and configs become files, from their content or the value of a variable', () => {
    const top = `
secrets: {plain: {content: "s3"}, given: {environment: TOKEN}}
configs: {conf: {environment: CONF}}`
    const lines = `
secrets: [plain, {source: given, target: token, uid: "5", mode: 0400}, {source: given, target: /etc/t}]
configs: [conf]`
    const lookup = (name: string) => `value of ${name}`
    expect(web(lines, { top, lookup }).files).toEqual([
      { path: '/conf', content: 'value of CONF', mode: 0o644 },
      { path: '/run/secrets/plain', content: 's3', mode: 0o644 },
      { path: '/run/secrets/token', content: 'value of TOKEN', mode: 0o400 },
      { path: '/etc/t', content: 'value of TOKEN', mode: 0o644 },
    ])
  })

  test('x- keys may stand anywhere', () => {
    expect(web('x-note: {a: b}', { top: 'x-more: 1\nversion: "3.8"\nname: site' }).image).toBe(
      'nginx:1.27',
    )
  })
})
