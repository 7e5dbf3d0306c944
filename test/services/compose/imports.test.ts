import { describe, expect, test } from 'bun:test'
import { openTemplate } from '../../../src/services/compose/open.ts'
import { importDokploy } from '../../../src/services/compose/import-dokploy.ts'
import { stackOf } from '../../../src/services/compose/template.ts'
import type { Template } from '../../../src/services/compose/template.ts'
import { askedFor, fillValues, withDerived } from '../../../src/services/compose/values.ts'
import { refusalOf } from './refusal.ts'

const origin = { file: 'compose.yaml', field: 'compose' }
const addressOf = (service: string, port: number | null) => `http://${service}.example.com:${port}`

const open = (text: string) => openTemplate(text, origin, { name: 'imported' })
const filled = ({ variables }: Template, given: Record<string, string> = {}) =>
  withDerived(
    variables,
    fillValues(variables, { given: new Map(Object.entries(given)) }),
    addressOf,
  )

describe('a template of Coolify', () => {
  const text = `# documentation: https://docs.example.com/x
# slogan: A tool: for all.
# category: automation
# tags: one, two,three
# logo: svgs/x.svg
# port: 5678

services:
  app-server:
    image: app:1
    exclude_from_hc: true
    environment:
      - SERVICE_URL_APP_SERVER_5678
      - SERVICE_FQDN_APP_SERVER=/hook
      - WEBHOOK=\${SERVICE_URL_APP_SERVER}/w
      - DB=postgres://$SERVICE_USER_DB:\${SERVICE_PASSWORD_DB}@db/x
      - SAME=\${SERVICE_PASSWORD_DB}
      - LONG=$SERVICE_PASSWORD_64_LONG
      - HEX=\${SERVICE_HEX_32_KEY}
      - B64=$SERVICE_BASE64_64_KEY
      - REAL=$SERVICE_REALBASE64_KEY
      - SYMBOLS=$SERVICE_PASSWORDWITHSYMBOLS_X
      - LOWER=$SERVICE_LOWERCASEUSER_X
      - ANON=$SERVICE_SUPABASEANON_KEY
      - NAME=$SERVICE_NAME_DB
      - TZ=\${TZ:-UTC}
      - SMTP=\${SMTP_HOST:?}
    volumes:
      - ./data:/data
      - type: bind
        source: ./conf.yml
        target: /conf.yml
        content: |
          key: $SERVICE_PASSWORD_DB \${HOME} $$
      - type: bind
        source: ./dir
        target: /dir
        is_directory: true
      - undeclared:/more
  db:
    image: postgres:17
    environment: {POSTGRES_PASSWORD: $SERVICE_PASSWORD_DB}
    volumes: [pg:/var/lib/postgresql/data]
volumes: {pg: }
`
  const template = open(text)

  test('is told by its head, which says what it is', () => {
    expect(template.about).toMatchObject({
      name: 'imported',
      description: 'A tool: for all.',
      category: 'automation',
      tags: ['one', 'two', 'three'],
      links: { docs: 'https://docs.example.com/x' },
    })
    expect(template.expose).toEqual([{ service: 'app-server', port: 5678, path: '/' }])
  })

  test('asks only for what is not made', () => {
    const plain = askedFor(template.variables).filter(({ generate }) => !generate)
    expect(plain.map(({ name, default: value, required }) => [name, value, required])).toEqual([
      ['TZ', 'UTC', false],
      ['SMTP_HOST', null, true],
    ])
  })

  test('has its magic names made once, each in its kind', () => {
    const values = filled(template, { SMTP_HOST: 'mail' })
    const stack = stackOf(template, values)
    const env = stack.services.get('app-server')!.environment
    const password = values.get('SERVICE_PASSWORD_DB')!
    const url = 'http://app-server.example.com:5678'
    expect(password).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(env.get('DB')).toBe(`postgres://${values.get('SERVICE_USER_DB')}:${password}@db/x`)
    expect(env.get('SAME')).toBe(password)
    expect(stack.services.get('db')!.environment.get('POSTGRES_PASSWORD')).toBe(password)
    expect(env.get('SERVICE_URL_APP_SERVER_5678')).toBe(url)
    expect(env.get('SERVICE_FQDN_APP_SERVER')).toBe('app-server.example.com:5678/hook')
    expect(env.get('WEBHOOK')).toBe(`${url}/w`)
    expect(env.get('LONG')).toMatch(/^[A-Za-z0-9]{64}$/)
    expect(env.get('HEX')).toMatch(/^[0-9a-f]{32}$/)
    expect(env.get('B64')).toMatch(/^[A-Za-z0-9]{64}$/)
    expect(Buffer.from(env.get('REAL')!, 'base64')).toHaveLength(32)
    expect(env.get('SYMBOLS')).toHaveLength(32)
    expect(env.get('LOWER')).toMatch(/^[a-z0-9]{16}$/)
    expect(env.get('NAME')).toBe('db')
    expect(env.get('TZ')).toBe('UTC')
    const claims = JSON.parse(Buffer.from(env.get('ANON')!.split('.')[1]!, 'base64url').toString())
    expect(claims).toMatchObject({ iss: 'supabase', role: 'anon' })
    expect(claims.exp - claims.iat).toBe(100 * 365.25 * 24 * 3600)
  })

  test('has directories of the host made volumes, and contents made files', () => {
    const values = filled(template, { SMTP_HOST: 'mail' })
    const stack = stackOf(template, values)
    const service = stack.services.get('app-server')!
    expect(service.volumes.map(({ volume, path }) => [volume, path])).toEqual([
      ['data', '/data'],
      ['dir', '/dir'],
      ['undeclared', '/more'],
    ])
    expect(service.files).toEqual([
      // to the letter: what looks like a variable is for the program to read
      { path: '/conf.yml', content: 'key: $SERVICE_PASSWORD_DB ${HOME} $$\n', mode: 0o644 },
    ])
    expect(stack.dangers).toEqual([])
  })

  test('that mounts the engine’s socket is listed as a danger all the same', () => {
    const socket = text.replace('./data:/data', '/var/run/docker.sock:/s')
    const stack = stackOf(open(socket), filled(open(socket), { SMTP_HOST: 'mail' }))
    expect(stack.dangers).toMatchObject([{ kind: 'engine_socket' }])
  })

  const service = (name: string, lines: string) =>
    `  ${name}:\n    image: a\n${lines.replace(/^/gm, '    ')}\n`
  const published = (head: string, ...services: string[]) =>
    open(`# slogan: x\n${head}\nservices:\n${services.join('')}`).expose.map(
      ({ service, port }) => `${service}:${port}`,
    )
  const named = (...names: string[]) =>
    `environment:\n${names.map((name) => `  - ${name}`).join('\n')}`

  test('publishes the service that has the name of an address, when no service is called so', () => {
    const db = service('db', 'volumes: [data:/var/lib/db]')
    const app = (name: string) => service('frontend', named(name, 'X=$SERVICE_FQDN_THING'))
    expect(published('', db, app('SERVICE_FQDN_THING_3000'))).toEqual(['frontend:3000'])
    expect(published('# port: 80', db, app('SERVICE_URL_THING'))).toEqual(['frontend:80'])
    const other = service('job', 'environment: {URL: $SERVICE_URL_THING}')
    expect(published('', other, db, app('SERVICE_URL_THING_3000'))).toEqual(['frontend:3000'])
    expect(published('', service('web-site.v2', named('SERVICE_URL_WEBSITEV2_81')))).toEqual([
      'web-site.v2:81',
    ])
  })

  test('publishes all ports of a service, and without one in a name that of the head or its own', () => {
    const two = service('a', named('SERVICE_URL_A_80', 'SERVICE_URL_A_81', 'SERVICE_FQDN_A'))
    expect(published('# port: 7', two)).toEqual(['a:80', 'a:81'])
    const bare = named('SERVICE_URL_A')
    expect(published('# port: 7', service('a', `${bare}\nexpose: [8]`))).toEqual(['a:7'])
    expect(published('', service('a', `${bare}\nexpose: ["8"]`))).toEqual(['a:8'])
    expect(published('', service('a', `${bare}\nports: ["\${PORT:-90}:9/tcp"]`))).toEqual(['a:9'])
    expect(published('', service('a', `${bare}\nports: [{target: 10}]`))).toEqual(['a:10'])
  })

  test('has each address as it is meant: a host without its port, but in an address', () => {
    const env = [
      'SERVICE_URL_WEB_80',
      'SERVICE_URL_WEB_443',
      'HOST=$SERVICE_FQDN_WEB',
      'WITH_PORT=$SERVICE_FQDN_WEB_443',
      'SECURE=https://${SERVICE_FQDN_WEB}/x',
      'SOCKET=wss://${SERVICE_FQDN_WEB}',
      'AT_PORT=http://${SERVICE_FQDN_WEB}:80/x',
      'ELSEWHERE=http://${SERVICE_FQDN_WEB}:9000',
      'OTHER=ssh://$SERVICE_FQDN_WEB:22',
      'MAIL=a@$SERVICE_FQDN_WEB',
    ]
    const template = open(`# slogan: x\nservices:\n${service('web', named(...env))}`)
    const addressOf = (_: string, port: number | null) =>
      port === 443 ? 'https://box.example.com:20443' : 'http://box.example.com:20080'
    const values = withDerived(
      template.variables,
      fillValues(template.variables, { given: new Map() }),
      addressOf,
    )
    const { environment } = stackOf(template, values).services.get('web')!
    expect(Object.fromEntries(environment)).toEqual({
      SERVICE_URL_WEB_80: 'http://box.example.com:20080',
      SERVICE_URL_WEB_443: 'https://box.example.com:20443',
      HOST: 'box.example.com',
      WITH_PORT: 'box.example.com:20443',
      SECURE: 'http://box.example.com:20080/x',
      SOCKET: 'ws://box.example.com:20080',
      AT_PORT: 'http://box.example.com:20080/x',
      ELSEWHERE: 'http://box.example.com:9000',
      OTHER: 'ssh://box.example.com:22',
      MAIL: 'a@box.example.com',
    })
  })

  test('mounts a file that another service says the content of', () => {
    const a = service(
      'a',
      'volumes: [{type: bind, source: ./x.sh, target: /x.sh, content: "#!$x", mode: "0700"}]',
    )
    const template = open(
      `# slogan: x\nservices:\n${a}${service('b', 'volumes: ["./x.sh:/y.sh:ro"]')}`,
    )
    const { services } = stackOf(template, filled(template))
    expect(services.get('a')!.files).toEqual([{ path: '/x.sh', content: '#!$x', mode: 0o700 }])
    expect(services.get('b')!.files).toMatchObject([{ path: '/y.sh', content: '#!$x' }])
  })

  test('asks for the variables that a service takes by name', () => {
    const template = open(
      `# slogan: x\nservices:\n${service('a', named('TOKEN', 'SERVICE_USER_A'))}`,
    )
    expect(askedFor(template.variables).map(({ name }) => name)).toEqual([
      'SERVICE_USER_A',
      'TOKEN',
    ])
  })

  test('with a key that is not supported is refused by name', () => {
    expect(refusalOf(() => open(text.replace('exclude_from_hc: true', 'privilegd: true')))).toMatch(
      /line 11, column 5: services\.app-server\.privilegd is not supported/,
    )
  })
})

describe('a template of Dokploy', () => {
  const compose = `
services:
  web:
    image: plausible:3
    environment:
      BASE_URL: \${BASE_URL}
      SECRET: \${SECRET_KEY_BASE}
      NOTE: \${NOTE}
      DOMAIN: \${DOMAIN}
      CALLBACK: wss://\${DOMAIN}/socket
    volumes: [../files/conf:/etc/conf, ../files/data:/data]
    networks: [dokploy-network, default]
networks:
  dokploy-network: {external: true}
`
  const config = `
[variables]
main_domain = "\${domain}"
db_pass = "\${password:20}"
url = "https://\${main_domain}/x?k=\${hash:6}"
secret = "\${base64:48}"
payload = '{"role": "\${role}", "exp": 1}'
role = "service"

[[config.domains]]
serviceName = "web"
port = 8000
host = "\${main_domain}"

[config]
isolated = true

[config.env]
BASE_URL = "\${url}"
SECRET_KEY_BASE = "\${secret}"
NOTE = "a $b \${unknown} c"
DOMAIN = "\${main_domain}"
TOKEN = "\${jwt:secret:payload}"
MAIL = "\${email}"
ID = "\${uuid}"
DIRECT = "\${password}"

[[config.mounts]]
filePath = "/conf/config.xml"
content = """<p>\${db_pass}</p> $host \${nope}"""
`
  const meta = JSON.stringify({
    name: 'Plausible',
    version: 'v3',
    tags: ['a'],
    links: { docs: 'https://d', x: 'javascript:1' },
  })
  const template = importDokploy({ compose, config, meta }, origin, { name: 'imported' })

  test('is read from its three files', () => {
    expect(template.about).toMatchObject({
      name: 'Plausible',
      version: 'v3',
      tags: ['a'],
      links: { docs: 'https://d' },
    })
    expect(template.expose).toEqual([{ service: 'web', port: 8000, path: '/' }])
  })

  test('has its helpers made once, and its variables in each other', () => {
    const values = filled(template)
    const stack = stackOf(template, values)
    const env = stack.services.get('web')!.environment
    // written for a proxy with HTTPS; what is spoken at the port of this host is plain
    expect(env.get('BASE_URL')).toMatch(/^http:\/\/web\.example\.com:8000\/x\?k=[0-9a-f]{6}$/)
    expect(env.get('DOMAIN')).toBe('web.example.com')
    expect(env.get('CALLBACK')).toBe('ws://web.example.com:8000/socket')
    expect(Buffer.from(env.get('SECRET')!, 'base64')).toHaveLength(48)
    expect(env.get('NOTE')).toBe('a $b ${unknown} c')
    expect(values.get('MAIL')).toMatch(/^[a-z0-9]{12}@example\.com$/)
    expect(values.get('ID')).toMatch(/^[0-9a-f-]{36}$/)
    expect(values.get('DIRECT')).toMatch(/^[A-Za-z0-9]{16}$/)
    const claims = JSON.parse(
      Buffer.from(values.get('TOKEN')!.split('.')[1]!, 'base64url').toString(),
    )
    expect(claims).toMatchObject({ role: 'service', exp: 1 })

    const kept = fillValues(template.variables, { given: new Map() })
    const moved = withDerived(template.variables, kept, () => 'https://other.example.com')
    const again = withDerived(
      template.variables,
      fillValues(template.variables, { given: new Map(), kept }),
      addressOf,
    )
    expect(moved.get('BASE_URL')).toStartWith('https://other.example.com/x?k=')
    expect(again.get('BASE_URL')!.slice(-6)).toBe(moved.get('BASE_URL')!.slice(-6))
    expect(again.get('SECRET_KEY_BASE')).toBe(moved.get('SECRET_KEY_BASE')!)
  })

  test('has its mounts written as files, and its directories made volumes', () => {
    const values = filled(template)
    const stack = stackOf(template, values)
    const web = stack.services.get('web')!
    const [file] = web.files
    expect(file!.path).toBe('/etc/conf/config.xml')
    expect(file!.content).toMatch(/^<p>[A-Za-z0-9]{20}<\/p> \$host \$\{nope\}$/)
    expect(web.volumes).toMatchObject([{ volume: 'files-data', path: '/data' }])
    expect(stack.dangers).toEqual([])
  })

  test('asks for what the user may change', () => {
    expect(askedFor(template.variables).map(({ name }) => name)).toEqual(['NOTE', 'DIRECT'])
  })

  const importing = (compose: string, config: string) =>
    importDokploy({ compose, config }, origin, { name: 'x' })
  const environmentOf = (compose: string, config: string, given: Record<string, string> = {}) => {
    const template = importing(compose, config)
    const stack = stackOf(template, filled(template, given))
    return Object.fromEntries(stack.services.get('web')!.environment)
  }

  test('passes over mounts that are no files: those are volumes of the Compose file', () => {
    const config = `[[config.mounts]]
name = "data"
mountPath = "/data"
[[config.mounts]]
filePath = "empty.txt"
[[config.mounts]]
filePath = "a.txt"
content = ""
`
    const template = importing(
      'services: {web: {image: a, volumes: ["data:/data", "../files/a.txt:/a.txt"]}}',
      config,
    )
    const web = stackOf(template, filled(template)).services.get('web')!
    expect(web.files).toEqual([{ path: '/a.txt', content: '', mode: 0o644 }])
    expect(web.volumes).toMatchObject([{ volume: 'data' }])
  })

  test('has the environment of the config in its .env', () => {
    const config = '[config.env]\nA = "1"\nB = "2"\n"no-name" = "3"'
    const files = [
      'env_file: .env',
      'env_file: [./.env]',
      'env_file: [{path: .env, required: true}]',
    ]
    for (const file of files)
      expect(
        environmentOf(`services: {web: {image: a, ${file}, environment: {B: own}}}`, config),
      ).toEqual({
        A: '1',
        B: 'own',
      })
    const list = 'services: {web: {image: a, env_file: .env, environment: [B=own]}}'
    expect(environmentOf(list, config)).toEqual({ A: '1', B: 'own' })
    const none = environmentOf('services: {web: {image: a, environment: {C: "$A"}}}', config)
    expect(none).toEqual({ C: '1' })
  })

  const abc = 'services: {web: {image: a, environment: {A: "$A", B: "$B", C: "$C"}}}'

  test.each([
    ['a table', '[config.env]\nA = 1\nB = true\nC = "3"'],
    ['lines', '[config]\nenv = ["A=1", "B=true", "C=3", "", "D"]'],
    ['tables', '[[config.env]]\nA = 1\n[[config.env]]\nB = true\nC = "3"'],
    [
      'names and values',
      '[[config.env]]\nname = "A"\nvalue = 1\n[[config.env]]\nkey = "B"\nvalue = true\n[[config.env]]\nkey = "C"\nvalue = "3"',
    ],
    ['what is no value beside them', '[config.env]\nA = 1\nB = true\nC = "3"\nmounts = []'],
  ])('takes its environment as %s', (_, config) => {
    expect(environmentOf(abc, config)).toEqual({ A: '1', B: 'true', C: '3' })
  })

  test('has variables of the environment in each other, and asks for one that is only itself', () => {
    const config = '[config.env]\nA = "${A}"\nB = "<${A}>"\nC = "${B}${C}"'
    const { variables } = importing(abc, config)
    expect(askedFor(variables).map(({ name }) => name)).toContain('A')
    expect(environmentOf(abc, config, { A: 'x' })).toEqual({ A: 'x', B: '<x>', C: '<x>${C}' })
  })

  test('has a helper’s value in a variable that is called as the helper', () => {
    const config =
      '[variables]\nusername = "${username}"\njwt_key = "${jwt:jwt_key}"\n[config.env]\nA = "${username}"\nB = "${jwt_key}"'
    const env = environmentOf(abc, config)
    expect(env.A).toMatch(/^[a-z0-9]{12}$/)
    expect(env.B).toMatch(/^[0-9a-f]{256}$/)
  })

  test('asks for a value that the config leaves empty and the file needs', () => {
    const needs = 'services: {web: {image: a, environment: {A: "${A:?}"}}}'
    const { variables } = importing(needs, '[config.env]\nA = ""')
    expect(variables.get('A')).toMatchObject({ required: true, default: null, hidden: false })
  })

  test('is told when it comes as one text, in base64', () => {
    const blob = Buffer.from(JSON.stringify({ compose, config })).toString('base64')
    const opened = openTemplate(blob, origin, { name: 'imported' })
    expect(opened.expose).toEqual(template.expose)
  })

  test('with a template.toml that can’t be read is refused', () => {
    const bad = (config: string) =>
      refusalOf(() => importDokploy({ compose, config }, origin, { name: 'x' }))
    expect(bad('a = ')).toContain('template.toml: This is not valid TOML')
    expect(bad('[[config.domains]]\nserviceName = "web"\nport = "x"')).toContain(
      'config.domains.0.port',
    )
    expect(bad('#'.repeat(1024 * 1024 + 1))).toContain('over 1 MiB')
  })

  describe('made to cost is refused:', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
    const fill = (config: string) =>
      refusalOf(() => filled(importDokploy({ compose, config }, origin, { name: 'x' })))

    test('values that double each other', () => {
      const doubling = numbers(40).map((i) => `a${i + 1} = "\${a${i}}\${a${i}}"`)
      const toml = ['[variables]', 'a0 = "0123456789"', ...doubling, '[config.env]', 'X = "${a40}"']
      expect(fill(toml.join('\n'))).toContain('over 4 MiB')
    })

    test('a long chain of values', () => {
      const chain = numbers(400).map((i) => `a${i + 1} = "\${a${i}}"`)
      expect(fill(['[variables]', ...chain.reverse(), 'a0 = "0"'].join('\n'))).toContain('100 deep')
    })

    test('more passwords than anyone needs', () => {
      expect(fill(`[config.env]\nX = "${'${password}'.repeat(60_000)}"`)).toContain('2000 values')
    })

    test('more tables, entries or files than anyone writes', () => {
      expect(
        fill(
          numbers(40_000)
            .map((i) => `[a${i}]`)
            .join('\n'),
        ),
      ).toContain('5000 of the signs')
      const keys = numbers(501).map((i) => `k${i} = 1`)
      expect(fill(['[variables]', ...keys].join('\n'))).toContain('variables: has more than 500')
      const mounts = numbers(101).map(() => '[[config.mounts]]\nfilePath = "a"\ncontent = ""')
      expect(fill(mounts.join('\n'))).toContain('config.mounts: has more than 100')
    })
  })
})
