import { objectOf, stringOf } from './files.ts'
import { linksOfPackages } from './links.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import {
  buildArguments,
  command,
  dockerfile,
  effective,
  ignored,
  installPackages,
  run,
} from './text.ts'
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
    const build = settings.build ?? (task('build') === null ? null : 'deno task build')
    const start =
      settings.start ??
      task('start') ??
      (main === undefined ? null : `deno run --allow-net --allow-env --allow-read ${main}`)
    if (start === null)
      throw lacking(
        `${file} doesn’t say how the app starts.`,
        `Add a task “start” to ${file}, or set the start command.`,
      )
    const imports = JSON.stringify(manifest['imports'] ?? {})
    return {
      kind: imports.includes('fresh') ? 'Fresh' : 'Deno',
      reasons: [
        `Deno from ${file}`,
        version.reason,
        ...(build === null ? [] : [`builds with ${build}`]),
        `starts with ${start}`,
      ],
      dockerfile: dockerfile([
        `FROM ${version.image}`,
        'WORKDIR /app',
        installPackages(settings.packages ?? []),
        'ENV PORT=8000',
        'RUN chown deno:deno /app',
        'USER deno',
        'COPY --chown=deno:deno . .',
        ...buildArguments(buildVariables),
        run(settings.install ?? (main === undefined ? 'deno install' : `deno cache ${main}`)),
        build === null ? null : run(build),
        'EXPOSE 8000',
        'STOPSIGNAL SIGTERM',
        command(start),
      ]),
      dockerignore: ignored('node_modules'),
      settings: effective(
        { version: version.version, start, ...(build !== null && { build }) },
        settings,
      ),
      links: linksOfPackages(
        (name) =>
          new RegExp(`npm:${name.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')}[@"]`).test(imports),
        file,
      ),
      releaseCommand: null,
    }
  },
}
