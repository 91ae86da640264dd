package resource

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed-54e836f5/pi/core/readfile"
)

// Skill is a folder with instructions for a kind of work, after the Agent
// Skills standard (agentskills.io).
type Skill struct {
	Name        string
	Description string
	Hidden      bool // disable-model-invocation: the model is not told of it
	Info        Info // Path is the SKILL.md
}

// Dir is what relative paths in the skill are relative to.
func (s Skill) Dir() string { return filepath.Dir(s.Info.Path) }

// What the standard allows.
const (
	skillNameLength          = 64
	skillDescriptionLength   = 1024
	skillCompatibilityLength = 500
)

// loadSkills reads the skills of all places. Of two with one name the first
// counts, but one that was named for this run counts before all.
func (l *loader) loadSkills() []Skill {
	var list named[Skill]
	for _, file := range l.find(skillKind) {
		skill, ok := l.readSkill(file)
		if !ok {
			continue
		}
		if clash := list.add(skill.Name, skill, skill.Info); clash != nil {
			l.report(clash.lost.Path, fmt.Sprintf("the skill %s of %s has the same name and is used.", skill.Name, clash.kept.Path))
		}
	}
	return list.items
}

// readSkill reads one skill. Without a description the model could not know
// when to use it, so it is left out; other faults are reported only.
func (l *loader) readSkill(info Info) (Skill, bool) {
	data, err := readfile.Ordinary(info.Path)
	if err != nil {
		l.report(info.Path, fmt.Sprintf("cannot be read, so the skill is left out: %v.", reason(err)))
		return Skill{}, false
	}
	doc, err := parseDocument(data)
	if err != nil {
		l.report(info.Path, err.Error()+"; the skill is left out.")
		return Skill{}, false
	}
	isFolder := filepath.Base(info.Path) == skillFile
	if doc.meta == nil && !isFolder {
		return Skill{}, false // a README beside the skills
	}
	skill := Skill{Name: doc.text("name"), Description: doc.text("description"), Hidden: doc.truth("disable-model-invocation"), Info: info}
	if skill.Description == "" {
		l.report(info.Path, "the description is missing; the skill is left out.")
		return Skill{}, false
	}
	if skill.Name == "" {
		skill.Name = strings.TrimSuffix(filepath.Base(info.Path), ".md")
		if isFolder {
			skill.Name = filepath.Base(filepath.Dir(info.Path))
		}
		l.report(info.Path, fmt.Sprintf("the name is missing; %q is used.", skill.Name))
	}
	for _, fault := range skillFaults(skill, doc) {
		l.report(info.Path, fault+"; the skill is used all the same.")
	}
	return skill, true
}

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// skillFaults lists where a skill departs from the standard. Its rule that
// the folder is called like the skill is not checked: folders are shared with
// other agents that do not have it.
func skillFaults(s Skill, doc document) []string {
	var faults []string
	length := func(field, value string, most int) {
		if n := utf8.RuneCountInString(value); n > most {
			faults = append(faults, fmt.Sprintf("the %s has %d characters, and the standard allows %d", field, n, most))
		}
	}
	length("name", s.Name, skillNameLength)
	if !skillName.MatchString(s.Name) {
		faults = append(faults, fmt.Sprintf("the name %q must be of the letters a to z, digits and single hyphens between them", s.Name))
	}
	length("description", s.Description, skillDescriptionLength)
	length("compatibility", doc.text("compatibility"), skillCompatibilityLength)
	return faults
}

// expandSkill gives what /skill:name stands for. The file is read again, so
// that the model gets what it would read there itself.
func (s *Set) expandSkill(text, name, rest string) (string, bool) {
	if s.options.NoSkillCommands {
		return text, false
	}
	for _, skill := range s.skills {
		if skill.Name != name {
			continue
		}
		data, err := readfile.Ordinary(skill.Info.Path)
		if err != nil {
			return text, false
		}
		doc, err := parseDocument(data)
		if err != nil {
			return text, false
		}
		expanded := "<skill name=\"" + escapeXML(skill.Name) + "\" location=\"" + escapeXML(skill.Info.Path) + "\">\n" +
			"References are relative to " + skill.Dir() + ".\n\n" + strings.TrimSpace(doc.body) + "\n</skill>"
		if args := strings.TrimSpace(rest); args != "" {
			expanded += "\n\n" + args
		}
		return expanded, true
	}
	return text, false
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

func escapeXML(text string) string { return xmlEscapes.Replace(text) }
