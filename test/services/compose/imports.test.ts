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
          key: $SERVICE_PASSWORD_DB
      - type: bind
        source: ./dir
        target: /dir
        is_directory: true
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
    ])
    expect(service.files).toEqual([
      { path: '/conf.yml', content: `key: ${values.get('SERVICE_PASSWORD_DB')}\n`, mode: 0o644 },
    ])
    expect(stack.dangers).toEqual([])
  })

  test('that mounts the engine’s socket is listed as a danger all the same', () => {
    const socket = text.replace('./data:/data', '/var/run/docker.sock:/s')
    const stack = stackOf(open(socket), filled(open(socket), { SMTP_HOST: 'mail' }))
    expect(stack.dangers).toMatchObject([{ kind: 'engine_socket' }])
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
    expect(env.get('BASE_URL')).toMatch(/^https:\/\/web\.example\.com:8000\/x\?k=[0-9a-f]{6}$/)
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
