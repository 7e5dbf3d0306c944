import { linksOfPackages } from './links.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import { buildArguments, started, dockerfile, installPackages, run } from './text.ts'
import { chooseVersion } from './versions.ts'

const packages = ['/root/.nuget/packages']

export const dotnet: Rule = {
  looksFor: ['*.csproj'],
  plan({ files, settings, buildVariables }) {
    const projects = files.paths.filter((path) =>
      /^([\w .-]+\/){0,3}[\w .-]+\.(cs|fs|vb)proj$/.test(path),
    )
    if (projects.length === 0) return null
    const web = projects.filter((path) =>
      /Sdk\s*=\s*["']Microsoft\.NET\.Sdk\.Web["']/i.test(files.text(path)),
    )
    const runnable = projects.filter((path) => /<OutputType>\s*Exe\s*</i.test(files.text(path)))
    const [project, ...others] = web.length > 0 ? web : runnable
    if (project === undefined && files.has('package.json')) return null
    if (project === undefined || others.length > 0)
      throw lacking(
        project === undefined
          ? 'None of the .NET projects is a web app or a program.'
          : `There are several .NET apps: ${[project, ...others].slice(0, 8).join(', ')}.`,
        'Set the context directory to the app’s folder, or add a Dockerfile.',
      )
    const text = files.text(project)
    const targets = Array.from(
      (/<TargetFrameworks?>([^<]*)/i.exec(text)?.[1] ?? '').matchAll(
        /net(?:coreapp)?(\d+\.\d+)[^;]*/g,
      ),
    )
    const target = targets.toSorted(([, a], [, b]) => Number(b) - Number(a))[0]
    const version = chooseVersion('.NET', settings, [{ range: target?.[1], from: project }])
    const name =
      /<AssemblyName>\s*([\w.-]+)\s*</i.exec(text)?.[1] ??
      project.slice(project.lastIndexOf('/') + 1).replace(/\.\w+$/, '')
    const isWeb = web.length > 0
    const build =
      settings.build ??
      `dotnet publish ${JSON.stringify(`./${project}`)} --configuration Release --output /out${targets.length > 1 ? ` --framework ${target![0]}` : ''}`
    const start =
      settings.start ??
      (isWeb
        ? `ASPNETCORE_HTTP_PORTS=$PORT exec dotnet ${JSON.stringify(`./${name}.dll`)}`
        : `dotnet ${JSON.stringify(`./${name}.dll`)}`)
    const has = (wanted: string) => text.toLowerCase().includes(`"${wanted}"`)
    return {
      kind: isWeb ? 'ASP.NET Core' : '.NET',
      reasons: [
        `${project}`,
        version.reason,
        `builds with ${build}`,
        `starts with ${settings.start ?? `${name}.dll`}`,
      ],
      dockerfile: dockerfile(
        [
          `FROM ${version.image} AS build`,
          'WORKDIR /src',
          installPackages(settings.packages),
          'COPY . .',
          ...buildArguments(buildVariables),
          settings.install === undefined ? null : run(settings.install, packages),
          run(build, packages),
        ],
        [
          `FROM mcr.microsoft.com/dotnet/${isWeb ? 'aspnet' : 'runtime'}:${version.version}`,
          'WORKDIR /app',
          installPackages(settings.packages),
          'ENV PORT=8080',
          'COPY --from=build /out ./',
          'USER app',
          ...started(start, 8080),
        ],
      ),
      ignore: ['**/bin', '**/obj', '.vs'],
      settings: { version: version.version, build, start },
      links: linksOfPackages(has, project),
    }
  },
}
