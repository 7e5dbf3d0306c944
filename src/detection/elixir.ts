import { linksOfPackages } from './links.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import { buildArguments, started, copy, dockerfile, installPackages, run } from './text.ts'
import { chooseVersion } from './versions.ts'

export const elixir: Rule = {
  looksFor: ['mix.exs'],
  plan({ files, settings, buildVariables }) {
    if (!files.has('mix.exs')) return null
    const text = files.text('mix.exs')
    const name = /\bapp:\s*:([a-z]\w*)/.exec(text)?.[1]
    if (name === undefined)
      throw lacking('mix.exs names no app.', 'Give its project “app: :name”, or add a Dockerfile.')
    const has = (wanted: string) => new RegExp(`\\{:${wanted}\\b`).test(text)
    const hasDependencies = files.has('mix.lock') || /\{\s*:\w+,/.test(text)
    const install =
      settings.install ?? (hasDependencies ? 'mix do deps.get --only prod + deps.compile' : null)
    const version = chooseVersion('Elixir', settings, [
      {
        range: /^elixir\s+(\d+\.\d+)/m.exec(files.text('.tool-versions'))?.[1],
        from: '.tool-versions',
      },
    ])
    const isPhoenix = has('phoenix')
    const usesAssets = isPhoenix && /"assets\.deploy"/.test(text)
    // A release compiles by itself.
    const build =
      settings.build ?? (usesAssets ? 'mix do compile + assets.deploy + release' : 'mix release')
    const start = settings.start ?? `/app/bin/${name} start`
    const hasRelease = files.find(/^lib\/\w+\/release\.ex$/)
    const module = /defmodule\s+([\w.]+)\.MixProject/.exec(text)?.[1]
    return {
      kind: isPhoenix ? 'Phoenix' : 'Elixir',
      reasons: [
        ...(isPhoenix ? ['Phoenix from mix.exs'] : []),
        version.reason,
        `builds with ${build}`,
        `starts with ${start}`,
      ],
      dockerfile: dockerfile(
        [
          `FROM ${version.image} AS build`,
          'WORKDIR /app',
          'ENV MIX_ENV=prod',
          installPackages(hasDependencies ? ['build-essential', 'git'] : [], settings.packages),
          hasDependencies ? 'RUN mix local.hex --force && mix local.rebar --force' : null,
          copy(files.present('mix.exs', 'mix.lock'), './'),
          // Dependencies are compiled with their settings.
          files.hasFolder('config') ? copy(['config'], './config') : null,
          install === null ? null : run(install),
          'COPY . .',
          ...buildArguments(buildVariables),
          run(build),
        ],
        [
          // A release brings Erlang with it, and needs its libraries.
          'FROM debian:trixie-slim',
          installPackages(
            ['ca-certificates', 'libncurses6', 'libstdc++6', 'openssl'],
            settings.packages,
          ),
          'WORKDIR /app',
          'RUN useradd --create-home --uid 1000 app && chown app:app /app',
          `ENV LANG=C.UTF-8 PORT=4000${isPhoenix ? ' PHX_SERVER=true' : ''}`,
          `COPY --from=build --chown=app:app /app/_build/prod/rel/${name} ./`,
          'USER app',
          ...started(start, 4000),
        ],
      ),
      ignore: ['_build', 'deps'],
      settings: { version: version.version, build, start },
      links: linksOfPackages(has, 'mix.exs'),
      releaseCommand:
        hasRelease !== undefined && module !== undefined
          ? `/app/bin/${name} eval ${module}.Release.migrate`
          : null,
    }
  },
}
