import { objectOf, stringOf, webOfProcfile } from './files.ts'
import { linksOfPackages } from './links.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import { buildArguments, started, copy, dockerfile, installPackages, run } from './text.ts'
import { chooseVersion } from './versions.ts'

export const deno: Rule = {
  looksFor: ['deno.json', 'deno.jsonc'],
  plan({ files, settings, buildVariables }) {
    const file = files.first('deno.json', 'deno.jsonc')
    if (file === undefined) return null
    const manifest = files.json(file)
    const tasks = objectOf(manifest['tasks'])
    const task = (name: string) =>
      stringOf(tasks[name]) ?? stringOf(objectOf(tasks[name])['command'])
    const main = files.first('main.ts', 'mod.ts', 'server.ts', 'main.js', 'src/main.ts')
    const version = chooseVersion('Deno', settings, [
      { range: files.line('.deno-version') ?? files.line('.dvmrc'), from: '.deno-version' },
    ])
    const isFirst = version.version.startsWith('1.')
    const lock = files.has('deno.lock') ? ' --frozen' : ''
    const install = settings.install ?? (isFirst ? null : `deno install${lock}`)
    const isApart = settings.install === undefined && manifest['workspace'] === undefined
    const manifests = files.present(file, 'deno.lock', 'package.json', '.npmrc')
    const build = settings.build ?? (task('build') === null ? null : 'deno task build')
    const start =
      settings.start ??
      webOfProcfile(files) ??
      // It takes no notice of PORT.
      task('start')?.replace(/^deno serve\b(?!.*--port)/, 'deno serve --port $PORT') ??
      (main === undefined ? null : `deno run --allow-net --allow-env --allow-read ${main}`)
    if (start === null)
      throw lacking(
        `${file} doesn’t say how the app starts.`,
        `Add a task “start” to ${file}, or set the start command.`,
      )
    const base = [`FROM ${version.image}`, 'WORKDIR /app', installPackages(settings.packages)]
    const owned = ['RUN chown deno:deno /app', 'ENV PORT=8000', 'USER deno']
    const installed = (flags: string) => [
      copy(isApart ? manifests : ['.'], isApart ? './' : '.', flags),
      install === null ? null : run(install),
      isApart ? copy(['.'], '.', flags) : null,
      ...buildArguments(buildVariables),
      settings.install === undefined && main !== undefined ? run(`deno cache ${main}`) : null,
      build === null ? null : run(build),
    ]
    const end = started(start, 8000)
    // Variables would be in the history of the stage that has them.
    const isOneStage = buildVariables.length === 0 && build === null
    const imports = JSON.stringify(manifest['imports'] ?? {})
    return {
      kind: imports.includes('fresh') ? 'Fresh' : 'Deno',
      reasons: [
        `Deno from ${file}`,
        version.reason,
        ...(build === null ? [] : [`builds with ${build}`]),
        `starts with ${start}`,
      ],
      dockerfile: isOneStage
        ? dockerfile([...base, ...owned, ...installed('--chown=deno:deno'), ...end])
        : dockerfile(
            [...base.with(0, `${base[0]} AS build`), ...installed('')],
            [
              ...base,
              ...owned,
              'COPY --from=build --chown=deno:deno /deno-dir /deno-dir',
              'COPY --from=build --chown=deno:deno /app .',
              ...end,
            ],
          ),
      ignore: [],
      settings: { version: version.version, start, ...(build !== null && { build }) },
      links: linksOfPackages(
        (name) =>
          new RegExp(`npm:${name.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')}[@"]`).test(imports),
        file,
      ),
    }
  },
}
