package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// closed names offerings that have no capacity now. An empty field names them all.
type closed struct {
	CapacityType string `json:"capacityType"`
	Zone         string `json:"zone"`
	InstanceType string `json:"instanceType"`
}

func (c closed) covers(instanceType string, offering *cloudprovider.Offering) bool {
	return (c.InstanceType == "" || c.InstanceType == instanceType) &&
		(c.Zone == "" || c.Zone == offering.Zone()) &&
		(c.CapacityType == "" || c.CapacityType == offering.CapacityType())
}

// market is the kwok provider whose Create is refused where the file says that there is no capacity, as a cloud
// refuses it: when the node is asked for. Karpenter's kwok provider itself always has capacity.
type market struct {
	*kwok.CloudProvider
	kube  client.Client
	types []*cloudprovider.InstanceType
	file  string
}

func newMarket(ctx context.Context, kube client.Client, types []*cloudprovider.InstanceType, file string) *market {
	return &market{CloudProvider: kwok.NewCloudProvider(ctx, kube, types), kube: kube, types: types, file: file}
}

func (m *market) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	without, err := m.read()
	if err != nil {
		return nil, err
	}
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	open := m.open(without, wanted)
	if len(open) == 0 {
		return nil, cloudprovider.NewInsufficientCapacityError(errors.New("the market has no capacity for any offering of this claim"))
	}
	return kwok.NewCloudProvider(ctx, m.kube, open).Create(ctx, only(claim, open))
}

// read gives the closed offerings of this moment; a market without a file has capacity.
func (m *market) read() ([]closed, error) {
	text, err := os.ReadFile(m.file)
	if m.file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var state struct {
		Closed []closed `json:"closed"`
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, fmt.Errorf("reading the market in %s: %w", m.file, err)
	}
	return state.Closed, nil
}

// open gives the wanted types that have an open offering, with that alone.
func (m *market) open(without []closed, wanted scheduling.Requirements) []*cloudprovider.InstanceType {
	var types []*cloudprovider.InstanceType
	for _, each := range m.types {
		if !wanted.Get(corev1.LabelInstanceTypeStable).Has(each.Name) {
			continue
		}
		var offerings cloudprovider.Offerings
		for _, offering := range each.Offerings.Available().Compatible(wanted) {
			if !covered(without, each.Name, offering) {
				offerings = append(offerings, offering)
			}
		}
		if len(offerings) > 0 {
			types = append(types, &cloudprovider.InstanceType{
				Name: each.Name, Requirements: each.Requirements, Offerings: offerings, Capacity: each.Capacity, Overhead: each.Overhead,
			})
		}
	}
	return types
}

func covered(without []closed, instanceType string, offering *cloudprovider.Offering) bool {
	for _, each := range without {
		if each.covers(instanceType, offering) {
			return true
		}
	}
	return false
}

// only gives the claim with these instance types: the kwok provider fails on one that has no offering.
func only(claim *v1.NodeClaim, types []*cloudprovider.InstanceType) *v1.NodeClaim {
	narrowed := claim.DeepCopy()
	for i, each := range narrowed.Spec.Requirements {
		if each.Key == corev1.LabelInstanceTypeStable {
			narrowed.Spec.Requirements[i].Values = nil
			for _, kept := range types {
				narrowed.Spec.Requirements[i].Values = append(narrowed.Spec.Requirements[i].Values, kept.Name)
			}
		}
	}
	return narrowed
}
