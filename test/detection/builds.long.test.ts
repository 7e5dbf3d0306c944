import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { aProject, logOf } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { ensureStandIns } from './stand-ins.ts'

setDefaultTimeout(600_000)

const json = (value: unknown) => JSON.stringify(value, null, 2)
const server = (greeting: string) => `
import { createServer } from 'node:http'
import { isOdd } from './odd.js'
createServer((_, response) => response.end(${JSON.stringify(greeting)} + isOdd(3) + process.getuid())).listen(process.env.PORT)
`

const apps: { kind: string; images: string[]; files: Files; answer: string }[] = [
  {
    kind: 'Node',
    images: ['node:24.20-slim'],
    files: {
      'package.json': json({
        type: 'module',
        scripts: { start: 'node server.js' },
        dependencies: { 'is-odd': '3.0.1' },
      }),
      'odd.js': `import isOdd from 'is-odd'\nexport { isOdd }\n`,
      'server.js': server('node '),
    },
    answer: 'node true1000',
  },
  {
    kind: 'Vite',
    images: ['node:24.20-slim', 'caddy:2.11-alpine'],
    files: {
      'package.json': json({
        scripts: { build: 'vite build' },
        devDependencies: { vite: '7.1.0' },
      }),
      'index.html': '<title>built by vite</title><script type="module" src="/main.js"></script>',
      'main.js': 'console.log(1)',
    },
    answer: 'built by vite',
  },
  {
    kind: 'Static files',
    images: ['caddy:2.11-alpine'],
    files: { 'index.html': 'only a file' },
    answer: 'only a file',
  },
  {
    kind: 'Python',
    images: ['python:3.14-slim'],
    files: {
      'main.py': `
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
class Hello(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'python ' + str(os.getuid()).encode())
HTTPServer(('', int(os.environ['PORT'])), Hello).serve_forever()
`,
    },
    answer: 'python 1000',
  },
  {
    kind: 'Go',
    images: ['golang:1.27', 'alpine:3.24'],
    files: {
      'go.mod': 'module example.com/hello\n\ngo 1.19\n',
      'main.go': `package main
import ("fmt"; "net/http"; "os")
func main() {
  http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "go ", os.Getuid()) })
  http.ListenAndServe(":" + os.Getenv("PORT"), nil)
}
`,
    },
    answer: 'go 65532',
  },
]

beforeAll(() => ensureStandIns([...new Set(apps.flatMap(({ images }) => images))]))

test.each(apps)(
  'an app of the kind $kind is built without a Dockerfile, and answers',
  async ({ kind, files, answer }) => {
    const { t, ada } = withAda(testApp())
    const project = await aProject(t, ada, files)
    const found = (await ada.get(`/projects/${project.id}/detection`)).json
    expect(found).toMatchObject({ kind, problem: null })
    const deployment = await project.deploy()
    if (deployment.status !== 'running') console.log(found.dockerfile, await logOf(ada, deployment))
    expect(deployment).toMatchObject({ status: 'running', error: null })
    expect(await (await fetch(deployment.url)).text()).toContain(answer)
    const written = await fetch(new URL('.davit.Dockerfile', deployment.url))
    expect(await written.text()).not.toContain('FROM')
  },
)
