import { describe, expect, test } from 'bun:test'
import { openTemplate } from '../../../src/services/compose/open.ts'
import { stackOf } from '../../../src/services/compose/template.ts'
import { askedFor, fillValues, withDerived } from '../../../src/services/compose/values.ts'
import { filled, origin } from './filled.ts'
import { refusalOf } from './refusal.ts'

const open = (text: string) => openTemplate(text, origin, { name: 'imported' })

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

  test('is reported by its head, which says what it is', () => {
    expect(template.about).toMatchObject({
      name: 'imported',
      description: 'A tool: for all.',
      category: 'automation',
      tags: ['one', 'two', 'three'],
      links: { docs: 'https://docs.example.com/x' },
    })
    expect(template.expose).toEqual([{ service: 'app-server', port: 5678 }])
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
    // kept, though the file mentions it nowhere
    expect(values.get('SERVICE_PASSWORD_JWT')).toMatch(/^[A-Za-z0-9]{32}$/)
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
    const first = service('a', 'environment: [X=1]')
    expect(published('# port: 7', first, service('b', 'expose: [8]'))).toEqual(['a:7'])
    for (const port of ['80000', '-5', '8.5', '0'])
      expect(published(`# port: ${port}`, service('a', bare))).toEqual(['a:0'])
    expect(published('', service('a', named('SERVICE_URL_A_99999')))).toEqual(['a:0'])
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
      'TOLD=${SCHEME:-https}://${SERVICE_FQDN_WEB}',
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
      TOLD: 'http://box.example.com:20080',
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

  test('keeps the value of a file under secrets secret, whatever its name', () => {
    const plain = service('a', 'environment: {X: "$GATE", Y: "$OTHER"}\nsecrets: [s]')
    const { variables } = open(`# slogan: x\nservices:\n${plain}secrets: {s: {environment: GATE}}`)
    expect([variables.get('GATE')!.secret, variables.get('OTHER')!.secret]).toEqual([true, false])
  })

  test('has what one mention falls back to in all of them', () => {
    const made = 'KEY=${KEY:?$SERVICE_HEX_32_KEY}'
    const a = service(
      'a',
      named('URL=db/$DB', 'DB=${DB:-main}', 'ZONE=${ZONE:?UTC}', 'NAME=${NAME:?}', made),
    )
    const template = open(`# slogan: x\nservices:\n${a}`)
    expect(template.variables.get('ZONE')).toMatchObject({ required: true, default: 'UTC' })
    expect(template.variables.get('NAME')).toMatchObject({ required: true, default: null })
    const { environment } = stackOf(template, filled(template, { NAME: 'x' })).services.get('a')!
    expect(Object.fromEntries(environment)).toEqual({
      URL: 'db/main',
      DB: 'main',
      ZONE: 'UTC',
      NAME: 'x',
      KEY: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
  })

  test('with a key that is not supported is refused by name', () => {
    expect(refusalOf(() => open(text.replace('exclude_from_hc: true', 'privilegd: true')))).toMatch(
      /line 11, column 5: services\.app-server\.privilegd isn’t supported/,
    )
  })
})
