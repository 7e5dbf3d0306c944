// Makes a proxy of Go's modules from Debian's packages of their sources: a module has every version that others ask for,
// which are all the same. One that Debian lacks, as only tests need it, is empty.
//
//	go run modules.go <folder of the proxy> <module>@<version>…
package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const sources = "/usr/share/gocode/src"

var required = regexp.MustCompile(`(?m)^\s*(?:require\s+)?([\w.-]+\.[\w./-]+)\s+(v\d\S*)`)
var upper = regexp.MustCompile(`[A-Z]`)

func main() {
	known := map[string]bool{}
	for queue := os.Args[2:]; len(queue) > 0; queue = queue[1:] {
		if known[queue[0]] {
			continue
		}
		known[queue[0]] = true
		path, version, _ := strings.Cut(queue[0], "@")
		text, err := os.ReadFile(filepath.Join(sources, path, "go.mod"))
		if err != nil {
			text = []byte("module " + path + "\n")
		}
		publish(os.Args[1], path, version, text)
		for _, match := range required.FindAllStringSubmatch(string(text), -1) {
			queue = append(queue, match[1]+"@"+match[2])
		}
	}
}

func publish(proxy, path, version string, mod []byte) {
	escaped := upper.ReplaceAllStringFunc(path, func(letter string) string { return "!" + strings.ToLower(letter) })
	folder := filepath.Join(proxy, escaped, "@v")
	must(os.MkdirAll(folder, 0o755))
	info := `{"Version":"` + version + `","Time":"2020-01-01T00:00:00Z"}`
	must(os.WriteFile(filepath.Join(folder, version+".info"), []byte(info), 0o644))
	must(os.WriteFile(filepath.Join(folder, version+".mod"), mod, 0o644))
	file, err := os.Create(filepath.Join(folder, version+".zip"))
	must(err)
	defer file.Close()
	archive := zip.NewWriter(file)
	defer archive.Close()
	add := func(name string, content []byte) {
		entry, err := archive.Create(path + "@" + version + "/" + name)
		must(err)
		_, err = entry.Write(content)
		must(err)
	}
	add("go.mod", mod)
	root := filepath.Join(sources, path)
	filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return filepath.SkipDir
		}
		if entry.IsDir() {
			_, err := os.Stat(filepath.Join(at, "go.mod"))
			if at != root && (err == nil || entry.Name() == "vendor") {
				return filepath.SkipDir
			}
			return nil
		}
		name, _ := filepath.Rel(root, at)
		content, err := os.ReadFile(at)
		if err == nil && name != "go.mod" {
			add(name, content)
		}
		return nil
	})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
