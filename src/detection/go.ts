import { join } from 'node:path/posix'
import type { Files } from './files.ts'
import { webOfProcfile } from './files.ts'
import { linksOfPackages } from './links.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import { list, buildArguments, started, copy, dockerfile, installPackages, run } from './text.ts'
import { chooseVersion } from './versions.ts'
import { inFolder, joined, membershipIn } from './workspaces.ts'

/** Folders that a Go program may read when it runs; others are only compiled. */
const dataFolders = list('templates static public assets views migrations locales config')

const modules = ['/root/.cache/go-build', '/go/pkg/mod']

export const go: Rule = {
  looksFor: ['go.mod'],
  plan(options) {
    const { files, settings, buildVariables } = options
    if (!files.has('go.mod')) return null
    const member = membershipIn(options, 'go')
    const folder = member?.directory ?? ''
    const text = files.text('go.mod')
    const texts = [
      text,
      ...(member?.needed ?? []).map((other) => member!.workspace.files.text(`${other}/go.mod`)),
    ].join('\n')
    const oldest = /^go\s+(\d+\.\d+)/m.exec(text)?.[1]
    const version = chooseVersion('Go', settings, [
      { range: /^toolchain\s+go(\S+)/m.exec(text)?.[1], from: 'toolchain in go.mod' },
      // The oldest that works: newer ones build it as that one did.
      { range: oldest && `>=${oldest}`, from: 'go.mod' },
    ])
    const required = new Set(
      Array.from(
        texts.matchAll(/^[ \t]*(?:require[ \t]+)?([\w.-]+\/\S+)[ \t]+v\d/gm),
        ([, name]) => name!,
      ),
    )
    const has = (name: string) =>
      [...required].some((path) => path === name || path.startsWith(`${name}/`))
    const usesC = has('github.com/mattn/go-sqlite3')
    const isVendored = files.has('vendor/modules.txt')
    // Modules that are folders of the repository.
    const isJoined = member !== null || files.has('go.work')
    const needsCode = isJoined || /=>[ \t]*\.{1,2}\//.test(text)
    const download = settings.install ?? (isVendored || isJoined ? null : 'go mod download')
    const main = settings.build === undefined ? mainOf(files) : null
    const build =
      settings.build ??
      `go build -trimpath -ldflags=-s -o /out/app ${member ? `./${join(folder, main!)}` : main}`
    const start = settings.start ?? webOfProcfile(files) ?? '/app/app'
    const extra = settings.packages ?? []
    const data = dataFolders.filter((folder) => files.hasFolder(folder))
    return {
      kind: Object.entries(known).find(([, path]) => has(path))?.[0] ?? 'Go',
      ...(member && { context: member.workspace.root }),
      reasons: [
        ...(member?.reasons ?? []),
        version.reason,
        ...(main === null ? [] : [`builds ${main === '.' ? 'the module’s root' : main}`]),
        ...(isVendored ? ['its modules are in vendor'] : []),
        ...(usesC ? ['go-sqlite3 in go.mod needs C'] : []),
        `starts with ${start}`,
      ],
      dockerfile: dockerfile(
        [
          `FROM ${version.image} AS build`,
          'WORKDIR /src',
          installPackages(extra),
          `ENV CGO_ENABLED=${usesC ? 1 : 0}`,
          ...(needsCode || download === null
            ? ['COPY . .']
            : [copy(files.present('go.mod', 'go.sum'), './')]),
          download === null ? null : run(inFolder(folder, download), modules),
          needsCode || download === null ? null : 'COPY . .',
          ...buildArguments(buildVariables),
          run(settings.build === undefined ? build : inFolder(folder, build), modules),
        ],
        [
          usesC || extra.length > 0 ? 'FROM debian:trixie-slim' : 'FROM alpine:3.24',
          installPackages(extra),
          'WORKDIR /app',
          // Of the image, as they wouldn't be there before the program is built else.
          `COPY --from=${version.image} /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/`,
          `COPY --from=${version.image} /usr/local/go/lib/time/zoneinfo.zip /usr/local/lib/zoneinfo.zip`,
          'ENV ZONEINFO=/usr/local/lib/zoneinfo.zip PORT=8080',
          'COPY --from=build /out/app ./',
          ...data.map((name) => copy([joined(folder, name)], `./${name}`)),
          'USER 65532:65532',
          ...started(start, 8080),
        ],
      ),
      ignore: ['vendor/**/testdata', 'bin'],
      settings: { version: version.version, build, start },
      links: linksOfPackages(has, 'go.mod'),
    }
  },
}

/** The package of the program: the root, or the only one (or else “server”) of cmd. */
function mainOf(files: Files) {
  if (files.has('main.go')) return '.'
  const commands = [
    ...new Set(files.paths.flatMap((path) => /^cmd\/([\w-]+)\/[^/]+\.go$/.exec(path)?.[1] ?? [])),
  ]
  const chosen =
    commands.length === 1
      ? commands[0]
      : commands.find((name) => /^(server|web|api|app)$/.test(name))
  if (chosen !== undefined) return `./cmd/${chosen}`
  if (commands.length === 0 && files.find(/^[^/]+\.go$/) !== undefined) return '.'
  if (commands.length === 0)
    throw lacking(
      'This is a Go module without a main package at its top or in cmd.',
      'Set the build command, such as “go build -o /out/app ./path”.',
    )
  throw lacking(
    `This Go module has several programs: ${commands.slice(0, 8).join(', ')}.`,
    `Set the build command, such as “go build -o /out/app ./cmd/${commands[0]}”.`,
  )
}

const known = {
  Gin: 'github.com/gin-gonic/gin',
  Echo: 'github.com/labstack/echo',
  Fiber: 'github.com/gofiber/fiber',
  Chi: 'github.com/go-chi/chi',
}
